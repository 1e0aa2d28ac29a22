#include "protocol/batch_frame.hpp"

namespace weir::protocol {
namespace {

BatchRefusal refused(ErrorCode code, std::string_view reason) {
  return {.code = code, .before_log = true, .reason = reason};
}

// Kafka cuts batches by these rules before it looks at any of them.
enum class Cut : std::uint8_t { batch, nothing, corrupt };

Cut cut_batch(Bytes bytes, std::size_t& size) {
  constexpr std::int32_t kLengthMinOfAnyMagic = 14;
  if (bytes.size() < kLengthEnd) {
    return Cut::nothing;
  }
  const auto length = load_be<std::int32_t>(bytes, kLengthAt);
  if (length < kLengthMinOfAnyMagic) {
    return Cut::corrupt;
  }
  if (bytes.size() <= kMagicAt) {
    return Cut::nothing;
  }
  const auto magic = load_be<std::int8_t>(bytes, kMagicAt);
  if (magic < 0 || magic > kMagic) {
    return Cut::corrupt;
  }
  size = kLengthEnd + static_cast<std::size_t>(length);
  return size <= bytes.size() ? Cut::batch : Cut::nothing;
}

BatchRefusal bad_frame() {
  auto refusal = refused(ErrorCode::corrupt_message, "magic or length of a batch is impossible");
  refusal.error_message = refusal.reason;
  return refusal;
}

std::optional<BatchRefusal> refuse_codec_of_old_version(unsigned codec) {
  constexpr auto kZstd = static_cast<unsigned>(Codec::zstd);
  if (codec == kZstd) {
    return refused(ErrorCode::unsupported_compression_type, "zstd needs Produce version 7");
  }
  if (codec > kZstd) {
    auto refusal = refused(ErrorCode::unknown_server_error, "codec that does not exist");
    refusal.whole_request = true;
    return refusal;
  }
  return std::nullopt;
}

}  // namespace

std::optional<BatchRefusal> refuse_garbled(Bytes records) {
  std::size_t size = 0;
  return cut_batch(records, size) == Cut::corrupt ? std::optional{bad_frame()} : std::nullopt;
}

bool is_transactional(Bytes records) {
  std::size_t size = 0;
  return cut_batch(records, size) == Cut::batch && load_be<std::int8_t>(records, kMagicAt) == kMagic &&
         size > kAttributesAt + 1 && (load_be<std::uint16_t>(records, kAttributesAt) & kTransactionalBit) != 0;
}

std::optional<BatchRefusal> refuse_frame(Bytes records, std::int16_t produce_version, Bytes& batch) {
  std::size_t size = 0;
  switch (cut_batch(records, size)) {
    case Cut::nothing: return refused(ErrorCode::invalid_record, "no record batch");
    case Cut::corrupt: return bad_frame();
    case Cut::batch: break;
  }
  batch = records.first(size);
  if (load_be<std::int8_t>(batch, kMagicAt) != kMagic) {
    return refused(ErrorCode::invalid_record, "record batch of an old format");
  }
  if (size > kAttributesAt + 1 && produce_version < 7) {
    if (auto refusal = refuse_codec_of_old_version(load_be<std::uint16_t>(batch, kAttributesAt) & kCodecMask)) {
      return refusal;
    }
  }
  std::size_t second_size = 0;
  switch (cut_batch(records.subspan(size), second_size)) {
    case Cut::batch: return refused(ErrorCode::invalid_record, "more than one record batch");
    case Cut::corrupt: return bad_frame();
    case Cut::nothing: break;
  }
  return std::nullopt;
}

}  // namespace weir::protocol
