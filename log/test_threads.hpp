// For tests that bring threads to a place: Moment, which one thread waits for and another one makes happen, and
// GateDisk, a disk whose operations may be held there. Nothing waits for ever: what does not happen fails the test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/real_clock.hpp"
#include "log/segment.hpp"
#include "sim/seams/disk_operation.hpp"

namespace weir::log {

constexpr Millis kPatienceMs = 10'000;  // far more than anything here takes, also under a sanitizer

// Happens once. Any thread.
class Moment {
 public:
  void happen() {
    const std::scoped_lock lock(mutex_);
    has_come_ = true;
    come_.notify_all();
  }
  // False, and the test has failed: it has not come.
  bool comes() {
    std::unique_lock lock(mutex_);
    const bool has_come = come_.wait_for(lock, std::chrono::milliseconds(kPatienceMs), [&] { return has_come_; });
    EXPECT_TRUE(has_come) << "a thread waited in vain";
    return has_come;
  }

 private:
  std::mutex mutex_;
  std::condition_variable come_;
  bool has_come_ = false;
};

// For what tells nobody that it happens.
template <class IsSo>
bool comes_true(IsSo&& is_so) {
  const RealClock clock;
  const auto deadline = clock.monotonic_ms() + kPatienceMs;
  while (!is_so()) {
    if (clock.monotonic_ms() > deadline) {
      ADD_FAILURE() << "a thread waited in vain";
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

// Asks a hook before it makes a file, writes or syncs one; an error stops the operation. The hook is set before there
// are threads, runs on whichever thread asks, beside others, and may wait.
class GateDisk final : public Disk {
 public:
  using Hook = std::function<Result<void>(sim::DiskOperation, const std::string& path)>;
  explicit GateDisk(Disk& disk) : disk_(disk) {}
  void set_hook(Hook hook) { hook_ = std::move(hook); }

  Result<std::shared_ptr<File>> open(const std::string& path, OpenOptions options) override {
    if (options.create) {
      WEIR_TRY_VOID(hook_(sim::DiskOperation::create, path));
    }
    WEIR_TRY(auto file, disk_.open(path, options));
    return std::shared_ptr<File>{std::make_shared<GateFile>(std::move(file), path, hook_)};
  }
  Result<void> rename(const std::string& from, const std::string& to) override { return disk_.rename(from, to); }
  Result<void> remove(const std::string& path) override { return disk_.remove(path); }
  Result<void> make_directories(const std::string& path) override { return disk_.make_directories(path); }
  Result<void> sync_directory(const std::string& path, Caller caller) override {
    return disk_.sync_directory(path, caller);
  }
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& path) const override {
    return disk_.list(path);
  }
  [[nodiscard]] bool exists(const std::string& path) const override { return disk_.exists(path); }
  [[nodiscard]] Result<std::int64_t> free_bytes(const std::string& path) const override {
    return disk_.free_bytes(path);
  }
  [[nodiscard]] Result<std::int64_t> total_bytes(const std::string& path) const override {
    return disk_.total_bytes(path);
  }
  Result<std::unique_ptr<DiskLock>> lock(const std::string& path) override { return disk_.lock(path); }

 private:
  class GateFile final : public File {
   public:
    GateFile(std::shared_ptr<File> file, std::string path, const Hook& hook)
        : file_(std::move(file)), path_(std::move(path)), hook_(hook) {}
    Result<void> write_at(std::int64_t position, std::span<const Bytes> parts) override {
      WEIR_TRY_VOID(hook_(sim::DiskOperation::write, path_));
      return file_->write_at(position, parts);
    }
    Result<std::size_t> read_at(std::int64_t position, MutableBytes into) const override {
      return file_->read_at(position, into);
    }
    Result<void> sync(Caller caller) override {
      WEIR_TRY_VOID(hook_(sim::DiskOperation::sync, path_));
      return file_->sync(caller);
    }
    Result<void> truncate(std::int64_t size) override { return file_->truncate(size); }
    Result<void> allocate(std::int64_t size) override { return file_->allocate(size); }
    [[nodiscard]] Result<std::int64_t> size() const override { return file_->size(); }
    [[nodiscard]] Result<std::int64_t> first_unwritten(std::int64_t position) const override {
      return file_->first_unwritten(position);
    }
    [[nodiscard]] Result<std::int64_t> first_written(std::int64_t position) const override {
      return file_->first_written(position);
    }
    [[nodiscard]] Result<SharedBytes> map() const override { return file_->map(); }
    [[nodiscard]] int handle() const override { return file_->handle(); }

   private:
    const std::shared_ptr<File> file_;
    const std::string path_;
    const Hook& hook_;
  };

  Disk& disk_;
  Hook hook_ = [](sim::DiskOperation, const std::string&) { return Result<void>{}; };
};

}  // namespace weir::log
