#include "protocol/writer.hpp"

#include <algorithm>
#include <limits>

namespace weir::protocol {
namespace {
constexpr std::int64_t kShortMax = std::numeric_limits<std::int16_t>::max();
constexpr std::int64_t kLongMax = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kFrameSizeBytes = 4;
}  // namespace

Writer Writer::framed() {
  Writer out;
  out.framed_ = true;
  out.write_int32(0);
  return out;
}

Result<void> Writer::result() const {
  if (failed_) {
    return {code_, static_cast<std::int64_t>(size())};
  }
  return {};
}

void Writer::refuse(std::string_view field, Errc code) {
  if (!failed_) {
    failed_ = true;
    code_ = code;
    refused_field_ = field;
  }
}

void Writer::grow(std::size_t count) {
  const auto room = std::max({kFirstSlab, 2 * slab_room_, slab_size_ + count});
  auto larger = std::make_shared_for_overwrite<std::byte[]>(room);
  if (slab_size_ > 0) {
    std::memcpy(larger.get(), slab_.get(), slab_size_);
  }
  slab_ = std::move(larger);
  slab_room_ = room;
}

void Writer::close_slab() {
  if (slab_size_ == 0) {
    return;
  }
  if (framed_ && frame_size_ == nullptr) {
    frame_size_ = slab_.get();
  }
  const Bytes filled{slab_.get(), std::exchange(slab_size_, 0)};
  chain_.append(SharedBytes{filled, std::exchange(slab_, nullptr)});
  slab_room_ = 0;
}

BufferChain Writer::finish() {
  close_slab();
  if (framed_) {
    const auto body = chain_.size() - kFrameSizeBytes;
    if (body > static_cast<std::size_t>(kLongMax)) {
      refuse("frame", Errc::too_large);
    }
    store_be(MutableBytes{frame_size_, kFrameSizeBytes}, 0, static_cast<std::int32_t>(body));
  }
  framed_ = false;
  frame_size_ = nullptr;
  return std::exchange(chain_, BufferChain{});
}

void Writer::write_uvarint(std::uint32_t value) {
  constexpr std::uint32_t kMore = 0x80;
  while (value >= kMore) {
    extend(1).front() = static_cast<std::byte>((value & 0x7fU) | kMore);
    value >>= 7U;
  }
  extend(1).front() = static_cast<std::byte>(value);
}

void Writer::write_chain(BufferChain chain) {
  if (chain.size() < kCopyBelow && chain.is_memory()) {
    for (const auto& piece : chain.pieces()) {
      for (const auto view : BufferChain::views_of(piece)) {
        write_raw(view);
      }
    }
    return;
  }
  close_slab();
  chain_.append(std::move(chain));
}

void Writer::write_length(std::int64_t length, bool short_form) {
  if (length > (short_form && !flexible_ ? kShortMax : kLongMax)) {
    refuse("length", Errc::too_large);
    return;
  }
  if (flexible_) {
    write_uvarint(static_cast<std::uint32_t>(length) + 1);
  } else if (short_form) {
    write_int16(static_cast<std::int16_t>(length));
  } else {
    write_int32(static_cast<std::int32_t>(length));
  }
}

void Writer::write_null(std::string_view field, bool nullable, bool short_form) {
  refuse_if(!nullable, field);
  if (flexible_) {
    write_uvarint(0);
  } else if (short_form) {
    write_int16(-1);
  } else {
    write_int32(-1);
  }
}

void Writer::write_text(std::string_view text) {
  // Kafka reads every string length as int16 at most, also the compact ones.
  if (std::ssize(text) > kShortMax) {
    refuse("string", Errc::too_large);
    return;
  }
  write_length(std::ssize(text), true);
  write_raw(as_bytes(text));
}

void Writer::write_nullable_string(const std::optional<Text>& value, std::string_view field, bool nullable) {
  if (value) {
    write_text(value->view());
  } else {
    write_null(field, nullable, true);
  }
}

void Writer::write_nullable_short_string(const std::optional<Text>& value) {
  const bool flexible = std::exchange(flexible_, false);
  write_nullable_string(value, {}, true);
  flexible_ = flexible;
}

void Writer::write_bytes(const Blob& value) {
  write_length(static_cast<std::int64_t>(value.size()), false);
  write_raw(value.view());
}

void Writer::write_nullable_bytes(const std::optional<Blob>& value, std::string_view field, bool nullable) {
  if (value) {
    write_bytes(*value);
  } else {
    write_null(field, nullable, false);
  }
}

void Writer::write_records(const std::optional<BufferChain>& value, std::string_view field, bool nullable) {
  if (value) {
    write_length(static_cast<std::int64_t>(value->size()), false);
    write_chain(*value);
  } else {
    write_null(field, nullable, false);
  }
}

void Writer::write_tags(const std::vector<UnknownTag>& unknown) {
  if (unknown.empty()) {  // nearly always
    if (flexible_) {
      write_uvarint(0);
    }
    return;
  }
  TagWriter tags{*this, unknown};
  tags.finish();
}

Writer& TagWriter::open(std::uint32_t tag) {
  open_tag_ = tag;
  payload_.emplace();
  payload_->set_flexible(out_.flexible());
  return *payload_;
}

void TagWriter::close() {
  if (const auto inner = payload_->result(); !inner) {
    out_.refuse(payload_->refused_field(), inner.error().code);
  }
  add_unknown_below(open_tag_);
  begin_entry(open_tag_, payload_->size()).write_chain(payload_->finish());
}

void TagWriter::add_unknown_below(std::uint64_t limit) {
  for (; next_unknown_ < unknown_.size() && unknown_[next_unknown_].tag < limit; ++next_unknown_) {
    const auto& each = unknown_[next_unknown_];
    begin_entry(each.tag, each.payload.size()).write_raw(each.payload.view());
  }
}

Writer& TagWriter::begin_entry(std::uint32_t tag, std::size_t size) {
  // Out of order or twice: an "unknown" tag that this build knows, or a caller that made up tags.
  out_.refuse_if(static_cast<std::int64_t>(tag) <= last_, "tag");
  last_ = tag;
  if (!section_) {
    section_.emplace();
  }
  section_->write_uvarint(tag);
  section_->write_uvarint(static_cast<std::uint32_t>(size));
  ++count_;
  return *section_;
}

void TagWriter::finish() {
  if (!out_.flexible()) {
    out_.refuse_if(!unknown_.empty() || count_ > 0, "tag");
    return;
  }
  add_unknown_below(std::numeric_limits<std::uint64_t>::max());
  out_.write_uvarint(count_);
  if (section_) {
    out_.write_chain(section_->finish());
  }
}

}  // namespace weir::protocol
