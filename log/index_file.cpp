#include "log/index_file.hpp"

#include "base/crc32c.hpp"
#include "log/index_layout.hpp"
#include "log/little_endian.hpp"

namespace weir::log {
namespace {

constexpr std::string_view kTrailerMagic = "WEIRDIR\n";
constexpr std::size_t kTrailerSize = 64;
constexpr std::size_t kRowSize = 96;
constexpr std::size_t kWriteBytes = 1U << 20U;

void put_row(std::vector<std::byte>& out, const IndexRow& row) {
  put(out, row.local.value);
  put(out, row.entry_count);
  put(out, row.first_offset.value);
  put(out, row.next_offset.value);
  put(out, row.log_start.value);
  put(out, row.record_count);
  put(out, row.batch_bytes);
  put(out, row.max_timestamp);
  put(out, row.newest_append_ms);
  put(out, row.section_position);
  put(out, row.state_position);
  put(out, row.section_crc);
  put(out, row.state_size);
  put(out, row.state_crc);
  put(out, std::uint32_t{0});
}

IndexRow take_row(Bytes bytes) {
  LittleReader reader{bytes};
  IndexRow row;
  row.local.value = reader.take<std::uint32_t>();
  row.entry_count = reader.take<std::uint32_t>();
  row.first_offset.value = reader.take<std::int64_t>();
  row.next_offset.value = reader.take<std::int64_t>();
  row.log_start.value = reader.take<std::int64_t>();
  row.record_count = reader.take<std::int64_t>();
  row.batch_bytes = reader.take<std::int64_t>();
  row.max_timestamp = reader.take<std::int64_t>();
  row.newest_append_ms = reader.take<std::int64_t>();
  row.section_position = reader.take<std::int64_t>();
  row.state_position = reader.take<std::int64_t>();
  row.section_crc = reader.take<std::uint32_t>();
  row.state_size = reader.take<std::uint32_t>();
  row.state_crc = reader.take<std::uint32_t>();
  return row;
}

// True if `size` bytes from `position` lie between the header and the directory.
bool lies_inside(std::int64_t position, std::uint64_t size, std::int64_t directory_position) {
  return position >= static_cast<std::int64_t>(kIndexHeaderSize) && position <= directory_position &&
         size <= static_cast<std::uint64_t>(directory_position - position);
}

// Bytes of a file are taken as a section only if offsets and the batches' places rise; bisecting relies on the former.
bool entries_rise(const IndexSection& section) {
  for (std::size_t i = 0; i < section.size(); ++i) {
    const auto entry = section.at(i);
    if (entry.base_offset.value < 0 || entry.last_offset < entry.base_offset ||
        (i > 0 && entry.base_offset <= section.at(i - 1).last_offset)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<IndexFileWriter> IndexFileWriter::create(Disk& disk, std::string path, const IndexFileFacts& facts) {
  IndexFileWriter writer;
  writer.disk_ = &disk;
  writer.path_ = std::move(path);
  writer.facts_ = facts;
  WEIR_TRY(writer.file_, disk.open(writer.path_ + ".tmp", {.create = true}));
  WEIR_TRY_VOID(writer.file_->truncate(0));
  WEIR_TRY_VOID(writer.put(encode_index_header(IndexForm::sealed, facts.segment, facts.seed)));
  return writer;
}

Result<void> IndexFileWriter::put(Bytes bytes) {
  position_ += static_cast<std::int64_t>(bytes.size());
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return buffer_.size() >= kWriteBytes ? flush() : Result<void>{};
}

Result<void> IndexFileWriter::flush() {
  const Bytes part{buffer_};
  WEIR_TRY_VOID(file_->write_at(position_ - static_cast<std::int64_t>(buffer_.size()), {&part, 1}));
  buffer_.clear();
  return {};
}

Result<void> IndexFileWriter::add(IndexRow row, Bytes packed, Bytes state) {
  WEIR_CHECK(rows_.empty() || rows_.back().local < row.local);
  WEIR_CHECK(packed.size() % kPackedIndexEntrySize == 0);
  row.entry_count = static_cast<std::uint32_t>(packed.size() / kPackedIndexEntrySize);
  row.section_position = position_;
  row.section_crc = crc32c(packed);
  WEIR_TRY_VOID(put(packed));
  row.state_position = position_;
  row.state_size = static_cast<std::uint32_t>(state.size());
  row.state_crc = crc32c(state);
  WEIR_TRY_VOID(put(state));
  rows_.push_back(row);
  return {};
}

Result<void> IndexFileWriter::finish() {
  const auto directory_position = position_;
  std::uint32_t directory_crc = 0;
  std::vector<std::byte> bytes;
  for (const auto& row : rows_) {
    bytes.clear();
    put_row(bytes, row);
    directory_crc = crc32c(bytes, directory_crc);
    WEIR_TRY_VOID(put(bytes));
  }
  bytes.clear();
  log::put(bytes, as_bytes(kTrailerMagic));
  log::put(bytes, directory_position);
  log::put(bytes, static_cast<std::uint32_t>(rows_.size()));
  log::put(bytes, directory_crc);
  log::put(bytes, facts_.valid_end);
  log::put(bytes, facts_.newest_append_ms);
  log::put(bytes, facts_.segment.value);
  log::put(bytes, facts_.seed.value);
  log::put(bytes, std::uint32_t{0});
  log::put(bytes, crc32c(bytes));
  WEIR_TRY_VOID(put(bytes));
  WEIR_TRY_VOID(flush());
  WEIR_TRY_VOID(file_->sync());
  file_.reset();
  WEIR_TRY_VOID(disk_->rename(path_ + ".tmp", path_));
  const auto slash = path_.rfind('/');
  return disk_->sync_directory(slash == std::string::npos ? "." : path_.substr(0, slash));
}

std::size_t IndexSection::find(Offset offset) const {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (at(middle).last_offset < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::size_t IndexSection::find_by_time(Millis timestamp, std::size_t from) const {
  while (from < size() && at(from).max_timestamp < timestamp) {
    ++from;
  }
  return std::min(from, size());
}

Result<std::shared_ptr<const IndexFile>> IndexFile::open(SharedBytes bytes, SegmentId segment, SegmentSeed seed) {
  const auto all = bytes.view();
  WEIR_TRY(const auto form, decode_index_header(all, segment, seed));
  if (form == IndexForm::deltas) {
    return Error{Errc::not_found, 0};
  }
  if (all.size() < kIndexHeaderSize + kTrailerSize) {
    return {Errc::truncated, static_cast<std::int64_t>(all.size())};
  }
  const auto trailer_at = static_cast<std::int64_t>(all.size() - kTrailerSize);
  const auto trailer = all.last(kTrailerSize);
  if (as_text(trailer.first(kTrailerMagic.size())) != kTrailerMagic ||
      load_le<std::uint32_t>(trailer, kTrailerSize - 4) != crc32c(trailer.first(kTrailerSize - 4))) {
    return {Errc::corrupt, trailer_at};
  }
  LittleReader reader{trailer.subspan(kTrailerMagic.size())};
  const auto directory_position = reader.take<std::int64_t>();
  const auto rows = reader.take<std::uint32_t>();
  const auto directory_crc = reader.take<std::uint32_t>();
  // make_shared cannot reach the private constructor.
  std::shared_ptr<IndexFile> file{new IndexFile};
  file->facts_.valid_end = reader.take<std::int64_t>();
  file->facts_.newest_append_ms = reader.take<std::int64_t>();
  file->facts_.segment.value = reader.take<std::uint64_t>();
  file->facts_.seed.value = reader.take<std::uint64_t>();
  const auto directory_size = std::size_t{rows} * kRowSize;
  if (reader.take<std::uint32_t>() != 0 || file->facts_.segment != segment || file->facts_.seed != seed ||
      directory_position < static_cast<std::int64_t>(kIndexHeaderSize) || directory_position > trailer_at ||
      directory_size != static_cast<std::size_t>(trailer_at - directory_position)) {
    return {Errc::corrupt, trailer_at};
  }
  file->directory_ = all.subspan(static_cast<std::size_t>(directory_position), directory_size);
  if (crc32c(file->directory_) != directory_crc) {
    return {Errc::corrupt, directory_position};
  }
  file->row_count_ = rows;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = file->row(i);
    if ((i > 0 && row.local <= file->row(i - 1).local) ||
        load_le<std::uint32_t>(file->directory_, i * kRowSize + kRowSize - 4) != 0 ||
        !lies_inside(row.section_position, std::uint64_t{row.entry_count} * kPackedIndexEntrySize,
                     directory_position) ||
        !lies_inside(row.state_position, row.state_size, directory_position)) {
      return {Errc::corrupt, directory_position + static_cast<std::int64_t>(i * kRowSize)};
    }
  }
  file->checked_ = std::make_unique<std::atomic<std::uint8_t>[]>(rows);
  file->bytes_ = std::move(bytes);
  return std::shared_ptr<const IndexFile>{std::move(file)};
}

Result<std::shared_ptr<const IndexFile>> IndexFile::open(Disk& disk, const std::string& path, SegmentId segment,
                                                         SegmentSeed seed) {
  WEIR_TRY(const auto file, disk.open(path, {.read_only = true}));
  WEIR_TRY(auto bytes, file->map());
  return open(std::move(bytes), segment, seed);
}

IndexRow IndexFile::row(std::size_t number) const {
  WEIR_DCHECK(number < row_count_);
  return take_row(directory_.subspan(number * kRowSize, kRowSize));
}

std::size_t IndexFile::number_of(LocalPartition local) const {
  std::size_t low = 0;
  std::size_t high = row_count_;
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (load_le<std::uint32_t>(directory_, middle * kRowSize) < local.value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<IndexRow> IndexFile::find(LocalPartition local) const {
  const auto number = number_of(local);
  if (number == row_count_ || row(number).local != local) {
    return std::nullopt;
  }
  return row(number);
}

Result<IndexSection> IndexFile::section(const IndexRow& wanted) const {
  const auto number = number_of(wanted.local);
  if (number == row_count_ || row(number) != wanted) {
    return Error{Errc::invalid_argument, wanted.local.value};  // a row of another file
  }
  const IndexSection section{bytes_.view().subspan(static_cast<std::size_t>(wanted.section_position),
                                                   std::size_t{wanted.entry_count} * kPackedIndexEntrySize)};
  // The bytes never change, so two readers that check at once come to the same end.
  if (checked_[number].load(std::memory_order_relaxed) == 0) {
    if (crc32c(section.packed()) != wanted.section_crc || !entries_rise(section)) {
      set_damaged();
      return {Errc::corrupt, wanted.section_position};
    }
    checked_[number].store(1, std::memory_order_relaxed);
  }
  return section;
}

Result<Bytes> IndexFile::state(const IndexRow& wanted) const {
  const auto number = number_of(wanted.local);
  if (number == row_count_ || row(number) != wanted) {
    return Error{Errc::invalid_argument, wanted.local.value};
  }
  const auto state = bytes_.view().subspan(static_cast<std::size_t>(wanted.state_position), wanted.state_size);
  if (crc32c(state) != wanted.state_crc) {
    set_damaged();
    return {Errc::corrupt, wanted.state_position};
  }
  return state;
}

}  // namespace weir::log
