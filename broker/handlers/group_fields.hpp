// Between the fields of group requests and the coordinator's plain values. For handlers/ only.
#pragma once

#include "broker/group_service.hpp"
#include "protocol/types.hpp"

namespace weir::broker {

inline std::optional<std::string> string_of(const std::optional<protocol::Text>& text) {
  return text ? std::optional{text->str()} : std::nullopt;
}
inline std::optional<protocol::Text> text_of(const std::optional<std::string>& string) {
  return string ? std::optional<protocol::Text>{*string} : std::nullopt;
}
inline SharedBytes bytes_of(const protocol::Blob& blob) {
  return SharedBytes::copy_of(blob.view());
}

}  // namespace weir::broker
