#include "sim/seams/sim_names.hpp"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

namespace weir::sim {
namespace {
bool is_top(const std::string& path) {
  return path == "." || path == "/";
}
}  // namespace

std::string normal_path(const std::string& path) {
  auto normal = std::filesystem::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') {
    normal.pop_back();
  }
  return normal;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

SimNames::File SimNames::find(const std::string& path) const {
  const auto found = current_.find(path);
  return found == current_.end() ? nullptr : found->second;
}

bool SimNames::folder_exists(const std::string& path) const {
  const auto found = current_.find(path);
  return is_top(path) || (found != current_.end() && found->second == nullptr);
}

std::vector<std::string> SimNames::names_in(const std::string& folder) const {
  std::vector<std::string> names;
  for (const auto& [path, file] : current_) {
    if (folder_of(path) == folder) {
      names.push_back(path.substr(path.rfind('/') + 1));
    }
  }
  return names;
}

void SimNames::apply(Entries& entries, const Change& change) {
  if (!change.from.empty()) {
    const auto found = entries.find(change.from);
    if (found != entries.end() && found->second == change.file) {
      entries.erase(found);
    }
  }
  if (!change.to.empty()) {
    entries[change.to] = change.file;
  }
}

void SimNames::add(const std::string& path, File file) {
  journal_.push_back({.to = path, .file = std::move(file)});
  apply(current_, journal_.back());
}

void SimNames::rename(const std::string& from, const std::string& to) {
  journal_.push_back({.from = from, .to = to, .file = find(from)});
  apply(current_, journal_.back());
}

void SimNames::remove(const std::string& path) {
  journal_.push_back({.from = path, .file = find(path)});
  apply(current_, journal_.back());
}

void SimNames::sync_folder(const std::string& folder) {
  std::erase_if(journal_, [&](const Change& change) {
    const bool touched = (!change.from.empty() && folder_of(change.from) == folder) ||
                         (!change.to.empty() && folder_of(change.to) == folder);
    if (touched) {
      apply(durable_, change);
    }
    return touched;
  });
}

void SimNames::lose_unsynced(Random& random) {
  const auto keep_of_8 = random.below(9);
  for (const auto& change : journal_) {
    if (random.below(8) < keep_of_8) {
      apply(durable_, change);
    }
  }
  journal_.clear();
  for (auto at = durable_.begin(); at != durable_.end();) {  // folders sort before what lies in them
    const auto parent = folder_of(at->first);
    const auto found = durable_.find(parent);
    const bool held = is_top(parent) || (found != durable_.end() && found->second == nullptr);
    at = held ? std::next(at) : durable_.erase(at);
  }
  current_ = durable_;
}

std::vector<SimNames::File> SimNames::visible_files() const {
  std::vector<File> all;
  for (const auto& [path, file] : current_) {
    if (file != nullptr) {
      all.push_back(file);
    }
  }
  return all;
}

std::vector<SimNames::File> SimNames::files() const {
  std::vector<File> all;
  std::unordered_set<const SimInode*> seen;
  const auto collect = [&](const File& file) {
    if (file != nullptr && seen.insert(file.get()).second) {
      all.push_back(file);
    }
  };
  for (const auto* entries : {&durable_, &current_}) {
    for (const auto& [path, file] : *entries) {
      collect(file);
    }
  }
  for (const auto& change : journal_) {
    collect(change.file);
  }
  return all;
}

SimNames SimNames::deep_copy() const {
  std::unordered_map<const SimInode*, File> copies;
  const auto copied = [&](const File& file) -> File {
    if (file == nullptr) {
      return nullptr;
    }
    auto& copy = copies[file.get()];
    if (copy == nullptr) {
      copy = std::make_shared<SimInode>(*file);
    }
    return copy;
  };
  auto result = *this;
  for (auto* entries : {&result.durable_, &result.current_}) {
    for (auto& [path, file] : *entries) {
      file = copied(file);
    }
  }
  for (auto& change : result.journal_) {
    change.file = copied(change.file);
  }
  return result;
}

}  // namespace weir::sim
