// The topics that coordinators keep their state in. Each gets a topic id that is the same in every data folder, so that
// whoever finds its data in the log knows whose it is, also when the metadata that named it is lost. (In folders of
// early builds the id is a random one: coordinator/metadata/lost_names.hpp.) Internal topics cannot be deleted, so no
// id is used twice. Pure.
#pragma once

#include <string_view>

#include "coordinator/metadata/image.hpp"

namespace weir::metadata {

// Zero: `name` is no internal topic.
Uuid internal_topic_id(std::string_view name);
// "": no internal topic has this id.
std::string_view internal_topic_of(const Uuid& id);
// The configs that its coordinator makes it with.
ConfigOverrides internal_topic_configs(std::string_view name, std::int32_t segment_bytes);

}  // namespace weir::metadata
