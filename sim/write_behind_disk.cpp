#include "sim/write_behind_disk.hpp"

namespace weir::sim {
namespace {

class WriteBehindFile final : public File {
 public:
  explicit WriteBehindFile(std::shared_ptr<File> file) : file_(std::move(file)) {}

  Result<void> write_at(std::int64_t position, std::span<const Bytes> parts) override {
    WEIR_TRY_VOID(let_through());
    position_ = position;
    for (const auto part : parts) {
      held_.insert(held_.end(), part.begin(), part.end());
    }
    return {};
  }
  Result<std::size_t> read_at(std::int64_t position, MutableBytes into) const override {
    WEIR_TRY_VOID(let_through());
    return file_->read_at(position, into);
  }
  Result<void> sync(Caller caller) override {
    WEIR_TRY_VOID(let_through());
    return file_->sync(caller);
  }
  Result<void> truncate(std::int64_t size) override {
    WEIR_TRY_VOID(let_through());
    return file_->truncate(size);
  }
  Result<void> allocate(std::int64_t size) override { return file_->allocate(size); }
  [[nodiscard]] Result<std::int64_t> size() const override {
    WEIR_TRY_VOID(let_through());
    return file_->size();
  }
  [[nodiscard]] Result<std::int64_t> first_unwritten(std::int64_t position) const override {
    return file_->first_unwritten(position);
  }
  [[nodiscard]] Result<std::int64_t> first_written(std::int64_t position) const override {
    return file_->first_written(position);
  }
  [[nodiscard]] Result<SharedBytes> map() const override {
    WEIR_TRY_VOID(let_through());
    return file_->map();
  }
  [[nodiscard]] int handle() const override { return file_->handle(); }

 private:
  Result<void> let_through() const {
    if (held_.empty()) {
      return {};
    }
    const Bytes part{held_};
    const auto written = file_->write_at(position_, std::span{&part, 1});
    held_.clear();
    return written;
  }
  std::shared_ptr<File> file_;
  mutable std::int64_t position_ = 0;
  mutable std::vector<std::byte> held_;
};

}  // namespace

Result<std::shared_ptr<File>> WriteBehindDisk::open(const std::string& path, OpenOptions options) {
  auto file = disk_.open(path, options);
  if (!file || path.find(folder_) == std::string::npos) {
    return file;
  }
  return std::shared_ptr<File>{std::make_shared<WriteBehindFile>(std::move(*file))};
}

}  // namespace weir::sim
