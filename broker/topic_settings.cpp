#include "broker/topic_settings.hpp"

namespace weir::broker {
namespace {

constexpr std::pair<std::string_view, Codec> kCodecNames[] = {{"uncompressed", Codec::none},
                                                              {"gzip", Codec::gzip},
                                                              {"snappy", Codec::snappy},
                                                              {"lz4", Codec::lz4},
                                                              {"zstd", Codec::zstd}};

std::optional<Codec> codec_of(std::string_view compression_type) {
  const auto* found = std::ranges::find(kCodecNames, compression_type, &std::pair<std::string_view, Codec>::first);
  return found == std::end(kCodecNames) ? std::nullopt : std::optional{found->second};  // "producer": as it came
}

std::optional<int> level_of(const TopicConfig& config, std::optional<Codec> codec) {
  if (codec == Codec::gzip) {
    return config.compression_gzip_level;
  }
  if (codec == Codec::lz4) {
    return config.compression_lz4_level;
  }
  if (codec == Codec::zstd) {
    return config.compression_zstd_level;
  }
  return std::nullopt;
}

EffectiveTopic make(const TopicOverrides& overrides, const Config& broker) {
  EffectiveTopic topic{.config = TopicConfig{overrides, broker}, .rules = {}, .batches = {}};
  const auto& config = topic.config;
  topic.rules = {.flush = config.synced() ? log::FlushMode::sync : log::FlushMode::async,
                 .flush_ms = config.flush_ms,
                 .delete_old = config.deletes(),
                 .compact = config.compacts(),
                 .retention_ms = config.retention_ms,
                 .retention_bytes = config.retention_bytes,
                 .memory = config.in_memory()};
  const auto codec = codec_of(config.compression_type);
  topic.batches = {.max_message_bytes = config.max_message_bytes,
                   .max_decompressed_bytes = config.max_decompressed_message_bytes,
                   .codec = codec,
                   .level = level_of(config, codec),
                   .timestamp_type = config.stamps_append_time() ? protocol::TimestampType::log_append_time
                                                                 : protocol::TimestampType::create_time,
                   .timestamp_before_max_ms = config.message_timestamp_before_max_ms,
                   .timestamp_after_max_ms = config.message_timestamp_after_max_ms,
                   .compacted = config.compacts()};
  return topic;
}

}  // namespace

std::shared_ptr<const EffectiveTopic> TopicSettings::of(const metadata::Topic& topic) {
  const std::lock_guard lock{mutex_};
  auto& known = known_[topic.id];
  if (known.overrides != topic.overrides) {
    known.overrides = topic.overrides;
    known.effective = std::make_shared<const EffectiveTopic>(make(*topic.overrides, *broker_));
  }
  return known.effective;
}

void TopicSettings::forget(const Uuid& topic_id) {
  const std::lock_guard lock{mutex_};
  known_.erase(topic_id);
}

bool TopicSettings::set_broker(std::shared_ptr<const Config> broker) {
  const std::lock_guard lock{mutex_};
  const bool same = same_topic_defaults(*broker_, *broker);
  broker_ = std::move(broker);
  if (!same) {
    known_.clear();
  }
  return !same;
}

}  // namespace weir::broker
