"""The table of API keys: one row per request that has a valid version, our extension keys too."""
from emit_header import BANNER

HEADER = BANNER.format(source='*.msg') + '''#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "protocol/types.hpp"

namespace weir::protocol {

// One API as the schemas have it. What this broker serves of it is the broker's table.
struct ApiInfo {
  std::int16_t key = -1;
  std::string_view name;
  std::int16_t min_version = 0;
  std::int16_t max_version = 0;
  std::int16_t flexible_from = kNeverFlexible;
  bool on_broker = false;      // listeners that answer it
  bool on_controller = false;  //
  bool top_unstable = false;   // the top version is offered only with unstable.api.versions.enable
};

std::span<const ApiInfo> api_table();         // ascending keys
const ApiInfo* find_api(std::int16_t key);    // nullptr for a key that no schema has
std::string_view api_name(std::int16_t key);  // "unknown" for such a key
// 1 or 2. The schemas' flexible range is open, so that too high a version is parsed as the newest form.
std::int16_t request_header_version(std::int16_t key, std::int16_t version);
// 0 or 1. Always 0 for ApiVersions: the client does not know yet what the broker speaks.
std::int16_t response_header_version(std::int16_t key, std::int16_t version);

}  // namespace weir::protocol
'''

FUNCTIONS = '''
std::span<const ApiInfo> api_table() {
  return kApis;
}

const ApiInfo* find_api(std::int16_t key) {
  // Kafka's keys begin at 0 and few are missing: the common ones stand at their own place.
  if (key >= 0 && key < std::ssize(kApis) && kApis[key].key == key) {
    return &kApis[key];
  }
  const auto* found = std::lower_bound(std::begin(kApis), std::end(kApis), key,
                                       [](const ApiInfo& api, std::int16_t wanted) { return api.key < wanted; });
  return found != std::end(kApis) && found->key == key ? found : nullptr;
}

std::string_view api_name(std::int16_t key) {
  const auto* api = find_api(key);
  return api != nullptr ? api->name : "unknown";
}

std::int16_t request_header_version(std::int16_t key, std::int16_t version) {
  const auto* api = find_api(key);
  return api != nullptr && version >= api->flexible_from ? 2 : 1;
}

std::int16_t response_header_version(std::int16_t key, std::int16_t version) {
  constexpr std::int16_t kApiVersions = 18;
  return key != kApiVersions && request_header_version(key, version) == 2 ? 1 : 0;
}
'''


def row(message):
    flexible = 'kNeverFlexible' if message.flexible_from is None else message.flexible_from
    flags = [str(flag).lower() for flag in ('broker' in message.listeners, 'controller' in message.listeners,
                                            message.unstable)]
    name = message.name.removesuffix('Request')
    return (f'    {{{message.key}, "{name}", {min(message.valid)}, {max(message.valid)}, {flexible}, '
            f'{", ".join(flags)}}},\n')


def emit(messages):
    requests = sorted((m for m in messages if m.kind == 'request'), key=lambda m: m.key)
    return (BANNER.format(source='*.msg') + '#include "protocol/gen/api_table.hpp"\n\n#include <algorithm>\n'
            '#include <iterator>\n\nnamespace weir::protocol {\nnamespace {\n'
            '// key, name, min, max, flexible from, broker, controller, top unstable\n'
            'constexpr ApiInfo kApis[] = {\n' + ''.join(row(m) for m in requests) + '};\n}  // namespace\n' + FUNCTIONS +
            '\n}  // namespace weir::protocol\n')
