// Java's .properties syntax: "key = value", "key: value", "key value", comments with # or !, a backslash at the end of
// a line joins the next one, \t \n \r \f \uXXXX and \<any> are escapes. Stateless; any thread. Bytes of UTF-8 pass
// through.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace weir {

struct Property {
  std::string name;
  std::string value;
  int line = 0;  // where it begins, from 1
  friend bool operator==(const Property&, const Property&) = default;
};

// In file order, a repeated name included. corrupt (detail: the line) for a broken \u escape.
Result<std::vector<Property>> parse_properties(std::string_view text);

}  // namespace weir
