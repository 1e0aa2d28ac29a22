#include "sim/seams/recording_disk.hpp"

#include "base/check.hpp"

namespace weir::sim {

std::string short_name(const Caller& caller) {
  std::string name = caller.function_name();
  for (const std::string_view nameless : {"{anonymous}::", "(anonymous namespace)::", "<unnamed>::"}) {
    for (auto at = name.find(nameless); at != std::string::npos; at = name.find(nameless)) {
      name.erase(at, nameless.size());
    }
  }
  name.resize(std::min(name.size(), name.find('(')));
  name.erase(0, name.rfind(' ') + 1);  // npos + 1 is 0
  const auto last = name.rfind("::");
  const auto before = last == std::string::npos || last == 0 ? std::string::npos : name.rfind("::", last - 1);
  return before == std::string::npos ? name : name.substr(before + 2);
}

namespace {
DiskEvent named(DiskOperation operation, const std::string& path) {
  return {.operation = operation, .path = path, .to = {}, .options = {}, .bytes = {}, .place = {}};
}
}  // namespace

struct RecordingDisk::State {
  explicit State(Disk& disk) : below(disk) {}
  // False: the process is dead, or dies with this event.
  bool alive(std::string_view place = {}) {
    if (dies_in == 1 || (!place.empty() && place == dies_at)) {
      is_dead = true;
    }
    dies_in -= dies_in > 0 ? 1 : 0;
    return !is_dead;
  }
  template <class Done>
  Result<Done> record(Result<Done> result, DiskEvent event) {
    if (result) {
      events.push_back(std::move(event));
    }
    return result;
  }

  Disk& below;
  std::vector<DiskEvent> events;
  std::size_t files = 0;
  std::size_t dies_in = 0;  // 0: not armed
  std::string dies_at;
  std::size_t torn = 0;
  bool is_dead = false;
};

class RecordedFile final : public File {
 public:
  RecordedFile(std::shared_ptr<RecordingDisk::State> state, std::shared_ptr<File> file, std::string path,
               std::size_t number)
      : state_(std::move(state)), file_(std::move(file)), path_(std::move(path)), number_(number) {}

  Result<void> write_at(std::int64_t position, std::span<const Bytes> parts) override {
    auto event = make(DiskOperation::write, position);
    for (const auto part : parts) {
      event.bytes.insert(event.bytes.end(), part.begin(), part.end());
    }
    const bool was_dead = state_->is_dead;
    if (!state_->alive()) {
      if (!was_dead && state_->torn > 0 && state_->torn < event.bytes.size()) {
        event.bytes.resize(state_->torn);
        const Bytes part{event.bytes};
        static_cast<void>(state_->record(file_->write_at(position, {&part, 1}), std::move(event)));
      }
      return Errc::closed;
    }
    return state_->record(file_->write_at(position, parts), std::move(event));
  }
  Result<std::size_t> read_at(std::int64_t position, MutableBytes into) const override {
    return state_->is_dead ? Errc::closed : file_->read_at(position, into);
  }
  Result<void> sync(Caller caller) override {
    auto event = make(DiskOperation::sync, 0);
    event.place = short_name(caller) + " sync";
    if (!state_->alive(event.place)) {
      return Errc::closed;
    }
    return state_->record(file_->sync(caller), std::move(event));
  }
  Result<void> truncate(std::int64_t size) override {
    if (!state_->alive()) {
      return Errc::closed;
    }
    return state_->record(file_->truncate(size), make(DiskOperation::truncate, size));
  }
  Result<void> allocate(std::int64_t size) override {
    if (!state_->alive()) {
      return Errc::closed;
    }
    return state_->record(file_->allocate(size), make(DiskOperation::allocate, size));
  }
  [[nodiscard]] Result<std::int64_t> size() const override { return state_->is_dead ? Errc::closed : file_->size(); }
  [[nodiscard]] Result<std::int64_t> first_unwritten(std::int64_t position) const override {
    return state_->is_dead ? Errc::closed : file_->first_unwritten(position);
  }
  [[nodiscard]] Result<std::int64_t> first_written(std::int64_t position) const override {
    return state_->is_dead ? Errc::closed : file_->first_written(position);
  }
  [[nodiscard]] Result<SharedBytes> map() const override { return state_->is_dead ? Errc::closed : file_->map(); }
  [[nodiscard]] int handle() const override { return file_->handle(); }

 private:
  [[nodiscard]] DiskEvent make(DiskOperation operation, std::int64_t position) const {
    auto event = named(operation, path_);
    event.file = number_;
    event.position = position;
    return event;
  }
  std::shared_ptr<RecordingDisk::State> state_;
  std::shared_ptr<File> file_;
  std::string path_;
  std::size_t number_;
};

RecordingDisk::RecordingDisk(Disk& below) : state_(std::make_shared<State>(below)) {}
RecordingDisk::~RecordingDisk() = default;

Result<std::shared_ptr<File>> RecordingDisk::open(const std::string& path, OpenOptions options) {
  if (options.create && !exists(path) ? !state_->alive() : state_->is_dead) {
    return Errc::closed;
  }
  auto file = state_->below.open(path, options);
  if (!file) {
    return file;
  }
  const auto number = state_->files++;
  auto event = named(DiskOperation::open, path);
  event.file = number;
  event.options = options;
  state_->events.push_back(std::move(event));
  return std::shared_ptr<File>{std::make_shared<RecordedFile>(state_, std::move(*file), path, number)};
}

Result<void> RecordingDisk::rename(const std::string& from, const std::string& to) {
  if (!state_->alive()) {
    return Errc::closed;
  }
  auto event = named(DiskOperation::rename, from);
  event.to = to;
  return state_->record(state_->below.rename(from, to), std::move(event));
}

Result<void> RecordingDisk::remove(const std::string& path) {
  if (!state_->alive()) {
    return Errc::closed;
  }
  return state_->record(state_->below.remove(path), named(DiskOperation::remove, path));
}

Result<void> RecordingDisk::make_directories(const std::string& path) {
  if (!state_->alive()) {
    return Errc::closed;
  }
  return state_->record(state_->below.make_directories(path), named(DiskOperation::make_directories, path));
}

Result<void> RecordingDisk::sync_directory(const std::string& path, Caller caller) {
  auto event = named(DiskOperation::sync_directory, path);
  event.place = short_name(caller) + " folder";
  if (!state_->alive(event.place)) {
    return Errc::closed;
  }
  return state_->record(state_->below.sync_directory(path, caller), std::move(event));
}

Result<std::vector<std::string>> RecordingDisk::list(const std::string& path) const {
  return state_->is_dead ? Errc::closed : state_->below.list(path);
}
bool RecordingDisk::exists(const std::string& path) const {
  return state_->below.exists(path);
}
Result<std::int64_t> RecordingDisk::free_bytes(const std::string& path) const {
  return state_->below.free_bytes(path);
}
Result<std::int64_t> RecordingDisk::free_files(const std::string& path) const {
  return state_->below.free_files(path);
}
Result<std::int64_t> RecordingDisk::total_bytes(const std::string& path) const {
  return state_->below.total_bytes(path);
}

Result<std::unique_ptr<DiskLock>> RecordingDisk::lock(const std::string& path) {
  WEIR_TRY_VOID(open(path, {.create = true}));
  return state_->below.lock(path);
}

const std::vector<DiskEvent>& RecordingDisk::events() const {
  return state_->events;
}

void RecordingDisk::die_at(std::size_t number, std::size_t torn) {
  WEIR_CHECK(number > 0);
  state_->dies_in = number;
  state_->torn = torn;
}

bool RecordingDisk::died() const {
  return state_->is_dead;
}

void RecordingDisk::die_at_sync(std::string place) {
  state_->dies_at = std::move(place);
}

void RecordingDisk::revive() {
  state_->dies_at.clear();
  state_->dies_in = 0;
  state_->is_dead = false;
}

std::map<std::string, std::size_t> places_of(std::span<const DiskEvent> events) {
  std::map<std::string, std::size_t> places;
  for (const auto& event : events) {
    if (!event.place.empty()) {
      ++places[event.place];
    }
  }
  return places;
}

Replay::Replay(const SimDisk* base, std::span<const DiskEvent> events, std::string without)
    : events_(events),
      without_(std::move(without)),
      disk_(base != nullptr ? base->clone(1) : std::make_unique<SimDisk>(1)) {}

void Replay::advance_to(std::size_t count) {
  WEIR_CHECK(count >= done_ && count <= events_.size());
  for (; done_ < count; ++done_) {
    apply(events_[done_]);
  }
}

void Replay::apply(const DiskEvent& event) {
  if (!event.place.empty() && event.place == without_) {
    return;
  }
  const Bytes bytes{event.bytes};
  const auto done = [&]() -> Result<void> {
    switch (event.operation) {
      case DiskOperation::open: {
        WEIR_TRY(files_[event.file], disk_->open(event.path, {.create = event.options.create}));
        return {};
      }
      case DiskOperation::write: return files_.at(event.file)->write_at(event.position, {&bytes, 1});
      case DiskOperation::sync: return files_.at(event.file)->sync();
      case DiskOperation::truncate: return files_.at(event.file)->truncate(event.position);
      case DiskOperation::allocate: return files_.at(event.file)->allocate(event.position);
      case DiskOperation::rename: return disk_->rename(event.path, event.to);
      case DiskOperation::remove: return disk_->remove(event.path);
      case DiskOperation::make_directories: return disk_->make_directories(event.path);
      case DiskOperation::sync_directory: return disk_->sync_directory(event.path);
      case DiskOperation::create:
      case DiskOperation::read:
      case DiskOperation::list:
      case DiskOperation::map:
      case DiskOperation::lock:
      case DiskOperation::ask_size:
      case DiskOperation::ask_room: break;  // never recorded
    }
    return Errc::unsupported;
  }();
  WEIR_CHECK(done.has_value());
}

std::unique_ptr<SimDisk> Replay::power_cut(std::uint64_t seed) const {
  auto image = disk_->clone(seed);
  image->crash(seed, CrashMode::power_cut);
  return image;
}

}  // namespace weir::sim
