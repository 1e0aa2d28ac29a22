#include "coordinator/metadata/identity_repair.hpp"

#include "coordinator/metadata/metadata_repair.hpp"

namespace weir::metadata {
namespace {

// One file that was found, with what it is called.
struct Source {
  std::string path;
  IdentityFile file;
};

std::string state_of(const Source& source) {
  return source.path + (source.file.kind == MetaProperties::missing ? " is missing" : " is damaged");
}

// The registration says node and directory, not the cluster.
std::optional<Identity> registered(Disk& disk, const std::string& data_folder) {
  if (!disk.exists(data_folder + "/metadata")) {
    return std::nullopt;
  }
  const auto image = readable_metadata(disk, data_folder);
  if (!image || (*image)->brokers().size() != 1) {
    return std::nullopt;
  }
  const auto& [id, broker] = *(*image)->brokers().begin();
  return Identity{.cluster_id = "",
                  .node_id = id,
                  .directory_id = broker.directories.empty() ? Uuid{} : broker.directories.front()};
}

// Neither file can be believed: the operator names the cluster, the metadata the rest.
Result<RepairedIdentity> put_together(Disk& disk, const std::string& data_folder, const IdentityWish& wish,
                                      const Source& own, const Source& copy, Random& random, std::string& why) {
  const auto& said = own.file.identity.cluster_id.empty() ? copy.file.identity : own.file.identity;
  if (wish.cluster_id.empty()) {
    why = state_of(own) + " and " + state_of(copy) + ", so nothing tells the cluster id for certain" +
          (said.cluster_id.empty() ? "; the first line of any log of this broker does"
                                   : "; what is left of them says " + said.cluster_id) +
          "; say it: `weir metadata repair --cluster-id ID " + data_folder + "`";
    return {Errc::corrupt};
  }
  RepairedIdentity out;
  const auto of_metadata = registered(disk, data_folder);
  out.identity = of_metadata.value_or(said);
  out.identity.cluster_id = wish.cluster_id;
  if (out.identity.node_id < 0 || (!of_metadata && said.cluster_id.empty())) {
    out.identity.node_id = wish.node_id.value_or(1);
  }
  const bool is_new_directory = out.identity.directory_id.is_zero();
  if (is_new_directory) {
    out.identity.directory_id = random.uuid();
  }
  out.findings.push_back(state_of(own) + ", and " + state_of(copy) + ": both made again with the cluster id " +
                         wish.cluster_id + ", node id " + std::to_string(out.identity.node_id) + " and " +
                         (is_new_directory ? "a new directory id" : "the directory id as it was"));
  return out;
}

}  // namespace

Result<RepairedIdentity> repair_identity(Disk& disk, const std::string& data_folder, const IdentityWish& wish,
                                         Random& random, std::string& why) {
  Source own{identity_path(data_folder), {}};
  Source copy{identity_copy_path(data_folder), {}};
  for (auto* source : {&own, &copy}) {
    const auto read = read_identity(disk, source->path);
    if (!read) {
      why = source->path + " cannot be read: " + to_string(read.error());
      return read.error();
    }
    source->file = *read;
    if (read->kind == MetaProperties::newer) {
      why = source->path + " was written by a newer version of Weir; use that version";
      return {Errc::unsupported};
    }
  }
  if (own.file.kind == MetaProperties::kafkas && !holds_data(disk, data_folder)) {
    why = "data folder " + data_folder +
          " was formatted by Apache Kafka (meta.properties): there is nothing of Weir in it";
    return {Errc::invalid_argument};
  }
  RepairedIdentity out;
  if (own.file.is_ours() && copy.file.is_ours() && own.file.identity != copy.file.identity) {
    const auto says = [&](const Source& source) { return source.file.identity.cluster_id == wish.cluster_id; };
    if (says(own) == says(copy)) {
      why = own.path + " (cluster id " + own.file.identity.cluster_id + ") and " + copy.path + " (cluster id " +
            copy.file.identity.cluster_id + ") disagree; say which cluster it is with --cluster-id, or remove one file";
      return {Errc::corrupt};
    }
    const auto& kept = says(own) ? own : copy;
    out = {kept.file.identity, {"both identity files say now what " + kept.path + " said"}};
  } else if (own.file.is_ours() || copy.file.is_ours()) {
    const auto& sound = own.file.is_ours() ? own : copy;
    const auto& other = own.file.is_ours() ? copy : own;
    out.identity = sound.file.identity;
    if (!wish.cluster_id.empty() && wish.cluster_id != out.identity.cluster_id) {
      why = sound.path + " is sound and says the cluster id " + out.identity.cluster_id + ", not " + wish.cluster_id;
      return {Errc::invalid_argument};
    }
    if (!other.file.is_ours() && !(other.path == copy.path && other.file.kind == MetaProperties::missing)) {
      out.findings.push_back(state_of(other) + ": made again from " + sound.path);
    }
  } else {
    WEIR_TRY(out, put_together(disk, data_folder, wish, own, copy, random, why));
  }
  if (const auto written = write_identity(disk, data_folder, out.identity); !written) {
    why = own.path + " cannot be written: " + to_string(written.error());
    return written.error();
  }
  return out;
}

}  // namespace weir::metadata
