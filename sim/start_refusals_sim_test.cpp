// Every way in which a start is refused for what lies in the data folder: the sentence names the file or the folder,
// and what to do. A table: a new refusal gets a row.
#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "base/logging.hpp"
#include "coordinator/metadata/identity.hpp"
#include "log/segment_header.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {

const std::string kFile = "data/meta.properties";
const std::string kCopy = "data/metadata/meta.properties";
const std::string kMetadata = "data/metadata/00000000000000000000.log";
const std::string kSegment = "data/commitlog/00000000000000000001.log";

struct Refusal {
  const char* name;
  std::function<void(World&)> break_it;
  std::vector<std::string> said;  // all of it in the sentence, or in the lines of the log before it
};

void put(World& world, const std::string& path, std::string_view text) {
  ASSERT_TRUE(replace_file(world.disk(), path, as_bytes(text)));
}
void remove_all_of(World& world, const std::string& folder) {
  for (const auto& name : *world.disk().list(folder)) {
    ASSERT_TRUE(world.disk().remove(folder + "/" + name));
  }
}
void fail(World& world, DiskOperation operation, const std::string& path, Error error) {
  world.disk().set_fault_hook([=](DiskOperation what, const std::string& where) {
    return what == operation && where.ends_with(path) ? std::optional{error} : std::nullopt;
  });
}
std::string properties_of(const std::string& cluster) {
  return metadata::write_meta_properties({.cluster_id = cluster, .node_id = 1, .directory_id = Random{1}.uuid()});
}
// With a sound checksum: not damage, but another build's.
void make_newer(World& world, const std::string& path, std::size_t version_at, std::size_t crc_at) {
  auto bytes = *read_file(world.disk(), path, 64 << 20);
  store_le<std::uint16_t>(bytes, version_at, 9);
  store_le<std::uint32_t>(bytes, crc_at, crc32c(Bytes{bytes}.first(crc_at)));
  ASSERT_TRUE(replace_file(world.disk(), path, bytes));
}

const Error kEio{Errc::disk_failed, 5};

const std::vector<Refusal> kRefusals{
    {"identity lost",
     [](World& world) {
       ASSERT_TRUE(world.disk().remove(kFile));
       ASSERT_TRUE(world.disk().remove(kCopy));
     },
     {kFile, kCopy, "`weir metadata repair data`"}},
    {"identity damaged",
     [](World& world) {
       put(world, kFile, "weir.format=1\n");
       put(world, kCopy, "weir.format=1\n");
     },
     {kFile + " is damaged", kCopy, "`weir metadata repair data`"}},
    {"two identities",
     [](World& world) { put(world, kFile, properties_of("4L6g3nShT-eMCtK--X86sw")); },
     {kFile, kCopy, "4L6g3nShT-eMCtK--X86sw", "`weir metadata repair --cluster-id ID data`"}},
    {"identity of a newer version",
     [](World& world) { put(world, kFile, "weir.format=2\n"); },
     {kFile, "start that version"}},
    {"identity unreadable", [](World& world) { fail(world, DiskOperation::read, kFile, kEio); }, {kFile, "5"}},
    {"Kafka's folder",
     [](World& world) { put(world, "data/bootstrap.checkpoint", "x"); },
     {"data folder data", "bootstrap.checkpoint", "--data"}},
    {"another node",
     [](World& world) {
       const std::vector<ConfigInput> inputs{{"node.id", "2"}, {"listeners", "PLAINTEXT://127.0.0.1:9092"}};
       auto loaded = load_config(inputs);
       world.config() = std::move(loaded.config);
     },
     {"data folder data belongs to node 1", "--set node.id=1"}},
    {"metadata changed",
     [](World& world) { ASSERT_TRUE(world.disk().damage(kMetadata, 70, std::byte{4})); },
     {kMetadata + " is damaged at byte", "`weir metadata repair data`"}},
    {"metadata's log lost",
     [](World& world) { ASSERT_TRUE(world.disk().remove(kMetadata)); },
     {"data/metadata lacks", "`weir metadata repair data`"}},
    {"metadata all lost",
     [](World& world) { remove_all_of(world, "data/metadata"); },
     {"data/metadata lacks", "`weir metadata repair data`"}},
    {"metadata unreadable", [](World& world) { fail(world, DiskOperation::read, kMetadata, kEio); }, {kMetadata, "5"}},
    {"manifest of a newer version",
     [](World& world) { make_newer(world, "data/manifest", 8, 60); },
     {"data/manifest", "start that version"}},
    {"manifest unreadable",
     [](World& world) { fail(world, DiskOperation::read, "manifest", kEio); },
     {"data/manifest", "`weir log verify data`"}},
    {"segment of a newer version",
     [](World& world) { make_newer(world, kSegment, 8, log::kSegmentHeaderSize - 4); },
     {kSegment, "start that version"}},
    {"segment unreadable",
     [](World& world) { fail(world, DiskOperation::read, kSegment, kEio); },
     {kSegment, "`weir log verify data`"}},
    {"no right to make a segment",
     [](World& world) { fail(world, DiskOperation::create, ".log", {Errc::disk_failed, 13}); },
     {"the log in data", "13", "`weir log verify data`"}},
};

TEST(StartRefusals, EachNamesTheFileAndWhatToDo) {
  for (const auto& refusal : kRefusals) {
    SCOPED_TRACE(refusal.name);
    World world{91};
    ASSERT_TRUE(world.start_broker()) << world.why();
    ASSERT_TRUE(create_topic(world, {"t", 1}));
    world.crash(CrashMode::process_death);
    refusal.break_it(world);
    const LogCapture lines;
    EXPECT_FALSE(world.start_broker());
    auto said = world.why();
    for (const auto& line : lines.lines()) {
      said += "\n" + line;
    }
    for (const auto& part : refusal.said) {
      EXPECT_NE(said.find(part), std::string::npos) << "'" << part << "' is not in: " << said;
    }
    world.disk().set_fault_hook({});
  }
}

}  // namespace
}  // namespace weir::sim
