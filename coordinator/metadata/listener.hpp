// MetadataListener: who must act when metadata changes (the broker: create, delete and re-rule partitions of the log).
// Called by the controller on its executor.
#pragma once

#include <string>
#include <vector>

#include "base/ids.hpp"
#include "coordinator/metadata/image.hpp"

namespace weir::metadata {

// What one step changed, so that nobody has to compare two images.
struct ImageChanges {
  std::vector<Uuid> topics_created;
  std::vector<std::shared_ptr<const Topic>> topics_deleted;  // as they were
  std::vector<Uuid> topics_changed;                          // more partitions, another leader epoch
  std::vector<std::string> topic_configs_changed;            // names of living topics
  bool broker_configs_changed = false;
  [[nodiscard]] bool empty() const {
    return topics_created.empty() && topics_deleted.empty() && topics_changed.empty() &&
           topic_configs_changed.empty() && !broker_configs_changed;
  }
};

class MetadataListener {
 public:
  virtual ~MetadataListener() = default;
  // The records are synced; `after` is published as soon as all listeners have returned, and only then answers leave.
  // So whoever sees a topic in the image finds its partitions in the log.
  virtual void applied(const MetadataImage& before, const MetadataImage& after, const ImageChanges& changes) = 0;
  // A write or sync of the metadata log failed; there is no change until the next start. Before its request is
  // answered: the change may have been made on the disk and be true after a power cut, so nothing that it would take
  // (records of a topic that it deletes) may be acknowledged any more.
  virtual void metadata_failed() = 0;
};

}  // namespace weir::metadata
