#include "protocol/record.hpp"

#include <algorithm>

#include "base/varint.hpp"

namespace weir::protocol {
namespace {

// Takes fields off the front of one record's body. After a failure every further call fails too.
class Fields {
 public:
  explicit Fields(Bytes body) : rest_(body) {}
  std::int32_t varint32() { return number<std::int32_t>(decode_varint32); }
  std::int64_t varint64() { return number<std::int64_t>(decode_varint64); }
  void skip(std::size_t count) { (void)take(count); }
  // A length and that many bytes; any negative length is null, as Kafka reads it.
  std::optional<Bytes> nullable_bytes() {
    const auto size = varint32();
    if (size < 0) {
      return std::nullopt;
    }
    return take(static_cast<std::size_t>(size));
  }
  [[nodiscard]] bool ok() const { return ok_; }
  void fail() { ok_ = false; }
  [[nodiscard]] Bytes rest() const { return rest_; }

 private:
  template <class Int>
  Int number(std::size_t (*decode)(Bytes, Int&)) {
    Int value = 0;
    const auto used = ok_ ? decode(rest_, value) : 0;
    ok_ = used > 0;
    rest_ = rest_.subspan(used);
    return ok_ ? value : 0;
  }
  Bytes take(std::size_t count) {
    ok_ = ok_ && count <= rest_.size();
    if (!ok_) {
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  Bytes rest_;
  bool ok_ = true;
};

HeaderView take_header(Fields& fields) {
  HeaderView header;
  const auto key = fields.nullable_bytes();
  if (!key) {
    fields.fail();  // a header has a key
    return header;
  }
  header.key = as_text(*key);
  header.value = fields.nullable_bytes();
  return header;
}

Result<RecordView> parse_body(Bytes body) {
  Fields fields{body};
  RecordView record;
  fields.skip(1);  // attributes: no bit has a meaning, none is checked
  record.timestamp_delta = fields.varint64();
  record.offset_delta = fields.varint32();
  record.key = fields.nullable_bytes();
  record.value = fields.nullable_bytes();
  const auto header_count = fields.varint32();
  const auto headers = fields.rest();
  if (header_count < 0) {
    fields.fail();
  }
  for (std::int32_t i = 0; i < header_count && fields.ok(); ++i) {
    take_header(fields);
  }
  if (!fields.ok() || !fields.rest().empty()) {
    return Error{Errc::corrupt, std::ssize(fields.rest())};
  }
  record.headers = HeaderRange{headers, header_count};
  return record;
}

struct Length {
  std::size_t prefix = 0;  // bytes of the length itself; 0: not all there
  std::int32_t body = 0;
};

// The length in front of a record. corrupt when it is negative or never ends.
Result<Length> record_length(Bytes bytes) {
  Length length;
  length.prefix = decode_varint32(bytes, length.body);
  if ((length.prefix == 0 && bytes.size() >= kVarint32Max) || (length.prefix > 0 && length.body < 0)) {
    return Error{Errc::corrupt, length.body};
  }
  return length;
}

}  // namespace

HeaderRange::Iterator::Iterator(Bytes rest, std::int32_t left) : rest_(rest), left_(left) {
  take();
}

void HeaderRange::Iterator::take() {
  if (left_ > 0) {
    Fields fields{rest_};
    header_ = take_header(fields);
    WEIR_CHECK(fields.ok());  // the range was checked when its record was parsed
    rest_ = fields.rest();
  }
}

HeaderRange::Iterator& HeaderRange::Iterator::operator++() {
  --left_;
  take();
  return *this;
}

HeaderRange::Iterator HeaderRange::Iterator::operator++(int) {
  auto before = *this;
  ++*this;
  return before;
}

Result<std::optional<RecordView>> RecordCursor::next() {
  if (rest_.empty()) {
    return std::optional<RecordView>{};
  }
  WEIR_TRY(const auto length, record_length(rest_));
  if (length.prefix == 0 || rest_.size() - length.prefix < static_cast<std::size_t>(length.body)) {
    return Error{Errc::truncated, std::ssize(rest_)};
  }
  const auto body = rest_.subspan(length.prefix, static_cast<std::size_t>(length.body));
  WEIR_TRY(auto record, parse_body(body));
  rest_ = rest_.subspan(length.prefix + body.size());
  return std::optional{record};
}

RecordReader::RecordReader(const RecordBatchView& batch, std::size_t output_max)
    : batch_(batch), left_(batch.record_count()), plain_(batch.payload()) {
  const auto codec = batch.codec();
  if (!codec) {
    failure_ = Error{Errc::unsupported, batch.attributes() & kCodecMask};
  } else if (left_ < 0) {
    failure_ = Error{Errc::corrupt, left_};
  } else if (*codec != Codec::none) {
    from_.emplace(*codec, batch.payload(), output_max);
    constexpr std::size_t kWindowSize = 64 * 1024;
    window_.resize(kWindowSize);
  }
}

Result<std::optional<RecordView>> RecordReader::next() {
  if (failure_) {
    return *failure_;
  }
  if (left_ > 0) {
    const auto record = take();
    if (record) {
      --left_;
      return std::optional{*record};
    }
    failure_ = record.error();
    return *failure_;
  }
  bool more = !plain_.empty();
  if (from_) {
    more = start_ < end_;
    if (!more) {
      const auto filled = fill();
      if (!filled) {
        failure_ = filled.error();
        return *failure_;
      }
      more = *filled;
    }
  }
  if (more) {
    failure_ = Error{Errc::corrupt, batch_.record_count()};  // bytes behind the last record
    return *failure_;
  }
  return std::optional<RecordView>{};
}

Result<RecordView> RecordReader::take() {
  if (!from_) {
    RecordCursor cursor{plain_};
    WEIR_TRY(const auto record, cursor.next());
    if (!record) {
      return Error{Errc::truncated, left_};
    }
    plain_ = cursor.rest();
    return *record;
  }
  for (;;) {
    const auto have = Bytes{window_}.subspan(start_, end_ - start_);
    WEIR_TRY(const auto length, record_length(have));
    if (length.prefix > 0 && have.size() - length.prefix >= static_cast<std::size_t>(length.body)) {
      const auto body = have.subspan(length.prefix, static_cast<std::size_t>(length.body));
      start_ += length.prefix + body.size();
      return parse_body(body);
    }
    WEIR_TRY(const auto more, fill());
    if (!more) {
      return Error{Errc::truncated, left_};
    }
  }
}

// Makes room by moving what is left to the front, or by doubling when a record fills the whole window: so the window
// is at most twice the output that has really come.
Result<bool> RecordReader::fill() {
  if (start_ > 0) {
    std::copy(window_.begin() + static_cast<std::ptrdiff_t>(start_),
              window_.begin() + static_cast<std::ptrdiff_t>(end_), window_.begin());
    end_ -= start_;
    start_ = 0;
  }
  if (end_ == window_.size()) {
    window_.resize(window_.size() * 2);
  }
  WEIR_TRY(const auto count, from_->read(MutableBytes{window_}.subspan(end_)));
  end_ += count;
  return count > 0;
}

Offset RecordReader::offset_of(const RecordView& record) const {
  return Offset{wrapping_add(batch_.base_offset(), record.offset_delta)};
}

Millis RecordReader::timestamp_of(const RecordView& record) const {
  return batch_.timestamp_type() == TimestampType::log_append_time
             ? batch_.max_timestamp()
             : wrapping_add(batch_.base_timestamp(), record.timestamp_delta);
}

}  // namespace weir::protocol
