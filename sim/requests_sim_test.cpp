// Single requests whose answers real clients notice, against the whole broker.
#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <set>

#include "protocol/errors.hpp"
#include "protocol/gen/api_versions.hpp"
#include "protocol/gen/describe_topic_partitions.hpp"
#include "protocol/gen/fetch.hpp"
#include "protocol/gen/incremental_alter_configs.hpp"
#include "protocol/gen/list_config_resources.hpp"
#include "protocol/gen/list_offsets.hpp"
#include "protocol/gen/metadata.hpp"
#include "protocol/gen/produce.hpp"
#include "protocol/record.hpp"
#include "sim/sim_producer.hpp"

namespace weir::sim {
namespace {
using namespace protocol;

const SimTopic kTopic{"orders", 1};

class RequestsSim : public testing::Test {
 protected:
  void start(std::optional<Config> config = {}, const std::map<std::string, std::string>& of_topic = {}) {
    connection.reset();  // of a world before
    world.emplace(7, WorldOptions{.config = config ? std::move(*config) : small_broker_config()});
    ASSERT_TRUE(world->start_broker()) << world->why();
    ASSERT_TRUE(create_topic(*world, kTopic, of_topic));
    connect();
  }
  void connect() {
    auto opened = world->connect();
    ASSERT_TRUE(opened);
    connection = *opened;
  }

  template <class Response, class Request>
  std::optional<client::Answered<Response>> call(const Request& request, std::int16_t version) {
    auto answer = std::make_shared<std::optional<Result<client::Answered<Response>>>>();
    connection->call_version<Request, Response>(
        request, version, [answer](Result<client::Answered<Response>> got) { *answer = std::move(got); });
    world->run_until([&] { return answer->has_value(); }, World::kPatienceMs);
    if (!answer->has_value() || !**answer) {
      return std::nullopt;
    }
    return std::move(***answer);
  }

  ProduceResponse::PartitionProduceResponse produce(std::int16_t version, BatchOptions options = {}) {
    RecordBatchBuilder builder{options};
    builder.append({.value = as_bytes(std::string_view{"value"}), .timestamp = 1'700'000'000'000});
    return produce_field(version, *builder.build());
  }

  // These bytes are the records field.
  ProduceResponse::PartitionProduceResponse produce_field(std::int16_t version, std::vector<std::byte> records) {
    ProduceRequest request{.acks = -1, .timeout_ms = 30'000};
    auto& topic = request.topic_data.emplace_back();
    if (version < 13) {
      topic.name = kTopic.name;
    }
    topic.partition_data.push_back({.index = 0, .records = BufferChain{SharedBytes::adopt(std::move(records))}});
    const auto answer = call<ProduceResponse>(request, version);
    if (!answer) {
      return {.error_code = -7};
    }
    return answer->response.responses.at(0).partition_responses.at(0);
  }

  std::optional<client::Answered<FetchResponse>> fetch(std::int16_t version, std::int64_t offset,
                                                       std::int32_t bytes_min, std::int32_t bytes_max) {
    FetchRequest request{.max_wait_ms = 30'000, .min_bytes = bytes_min, .max_bytes = bytes_max, .session_epoch = -1};
    auto& topic = request.topics.emplace_back();
    if (version < 13) {
      topic.topic = kTopic.name;
    }
    topic.partitions.push_back({.partition = 0, .fetch_offset = offset, .partition_max_bytes = 1 << 20});
    return call<FetchResponse>(request, version);
  }

  // A fetch of the empty partition; returns when it waits there.
  std::shared_ptr<log::Partition> leave_a_fetch_waiting(std::int32_t wait_max_ms) {
    FetchRequest request{.max_wait_ms = wait_max_ms, .min_bytes = 1, .max_bytes = 1, .session_epoch = -1};
    auto& topic = request.topics.emplace_back();
    topic.topic = kTopic.name;
    topic.partitions.push_back({.partition = 0, .partition_max_bytes = 1});
    connection->call_version<FetchRequest, FetchResponse>(request, 12,
                                                          [](const Result<client::Answered<FetchResponse>>&) {});
    const auto& services = world->broker().services();
    const auto id = services.controller.image()->find_topic(std::string_view{kTopic.name})->id;
    auto partition = services.log.find({id, 0});
    EXPECT_TRUE(world->run_until([&] { return partition->waiters.load() == 1; }, 1000));
    return partition;
  }

  Millis now() { return world->queue().clock().monotonic_ms(); }

  std::optional<World> world;
  std::shared_ptr<client::Connection> connection;
};

// Kafka cuts them off and answers no error. Served, they end librdkafka's consumers; stored, a start takes the batch
// for damage.
TEST_F(RequestsSim, BytesBehindTheOneBatchAreNeitherStoredNorServed) {
  for (const bool in_memory : {false, true}) {
    for (const auto codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
      SCOPED_TRACE(std::string{to_string(codec)} + (in_memory ? ", memory topic" : ""));
      start({}, in_memory ? std::map<std::string, std::string>{{"mq.storage", "memory"}}
                          : std::map<std::string, std::string>{});
      RecordBatchBuilder builder{{.codec = codec}};
      for (const std::string_view value : {"one", "two"}) {
        builder.append({.value = as_bytes(value), .timestamp = 1'700'000'000'000});
      }
      const auto sound = *builder.build();
      auto longer = sound;
      longer.resize(sound.size() + 7);
      for (std::int64_t base = 0; base < 6; base += 2) {
        const auto answer = produce_field(12, base == 2 ? longer : sound);
        EXPECT_EQ(answer.error_code, 0);
        EXPECT_EQ(answer.base_offset, base);
      }
      const auto fetched = fetch(12, 0, 1, 1 << 20);
      ASSERT_TRUE(fetched);
      const auto bytes = fetched->response.responses.at(0).partitions.at(0).records->flatten();
      ASSERT_EQ(bytes.size(), 3 * sound.size());
      BatchChain chain{bytes};
      for (std::int64_t base = 0; base < 6; base += 2) {
        const auto batch = chain.next();
        ASSERT_TRUE(batch && *batch);
        EXPECT_EQ((*batch)->base_offset(), base);
        EXPECT_TRUE((*batch)->crc_ok());
      }
      if (in_memory) {
        continue;
      }
      connection.reset();
      world->crash(CrashMode::process_death);
      ASSERT_TRUE(world->start_broker()) << world->why();
      std::string why;
      const auto records = codec == Codec::none ? read_all(*world, kTopic, 0, why) : std::nullopt;
      EXPECT_TRUE(codec != Codec::none || (records && records->size() == 6)) << why;
      EXPECT_EQ(world->broker().services().log.statistics().recovery_damaged_ranges, 0);
      connect();
      EXPECT_EQ(produce_field(12, sound).base_offset, 6);
    }
  }
}

TEST_F(RequestsSim, AFetchThatIsFullDoesNotWaitForAMinimumThatCannotFit) {
  start();
  ASSERT_EQ(produce(12).error_code, 0);
  ASSERT_EQ(produce(12).error_code, 0);
  const auto begin = now();
  const auto answer = fetch(12, 0, 1 << 20, 10);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->response.responses.at(0).partitions.at(0).records->empty());
  EXPECT_LT(now() - begin, 20'000);
}

TEST_F(RequestsSim, AWaitingFetchWhoseClientHasLeftEndsSoon) {
  start();
  const auto partition = leave_a_fetch_waiting(std::numeric_limits<std::int32_t>::max());
  connection->close();
  EXPECT_TRUE(world->run_until([&] { return partition->waiters.load() == 0; }, 20'000));
}

TEST_F(RequestsSim, AFetchThatWaitsHoldsNoRequestMemory) {
  start();
  leave_a_fetch_waiting(30'000);
  EXPECT_EQ(world->broker().services().memory.in_use(), 0U);
}

// Their frames live in the log's queue until they are answered: who comes again and again holds no more than who stays.
TEST_F(RequestsSim, WhatAClosedConnectionHasSentKeepsItsShareOfTheRequestMemoryUntilTheLogAnswers) {
  constexpr std::size_t kBudget = 2 << 20;
  start(small_broker_config(
      {{"mq.request.memory.bytes", std::to_string(kBudget)}, {"socket.request.max.bytes", std::to_string(kBudget)}}));
  const auto& services = world->broker().services();
  const auto taken_before = services.metrics.produce_bytes.value();
  const std::string value(200'000, 'x');
  std::vector<std::shared_ptr<client::Connection>> clients;  // open, as their first request waits for memory too
  for (int i = 0; i < 40; ++i) {
    connect();
    clients.push_back(connection);
  }
  world->process().stall_disk(30'000);
  for (const auto& client : clients) {
    RecordBatchBuilder builder{BatchOptions{}};
    builder.append({.value = as_bytes(value), .timestamp = 1'700'000'000'000});
    ProduceRequest request{.acks = -1, .timeout_ms = 30'000};
    auto& topic = request.topic_data.emplace_back();
    topic.name = kTopic.name;
    topic.partition_data.push_back({.index = 0, .records = BufferChain{SharedBytes::adopt(*builder.build())}});
    client->call_version<ProduceRequest, ProduceResponse>(request, 12,
                                                          [](const Result<client::Answered<ProduceResponse>>&) {});
    world->run_until([] { return false; }, 100);
    client->close();
  }
  world->run_until([] { return false; }, 100);
  const auto taken = services.metrics.produce_bytes.value() - taken_before;
  EXPECT_LE(taken, kBudget) << "as much waits in the log";
  EXPECT_GT(taken, kBudget / 2);
  EXPECT_GT(services.memory.in_use(), kBudget / 2);
  connect();
  EXPECT_EQ(produce(12).error_code, 0) << "it waits for room, and gets it when the disk goes on";
  EXPECT_EQ(services.memory.in_use(), 0U);
}

TEST_F(RequestsSim, AFetchOutOfRangeHasNoListOfAbortedTransactions) {
  start();
  const auto answer = fetch(12, 99, 1, 1 << 20);
  ASSERT_TRUE(answer);
  const auto& part = answer->response.responses.at(0).partitions.at(0);
  EXPECT_EQ(part.error_code, wire(ErrorCode::offset_out_of_range));
  EXPECT_FALSE(part.aborted_transactions.has_value());
}

TEST_F(RequestsSim, TheZeroTopicIdIsUnknownAsAnId) {
  start();
  EXPECT_EQ(produce(13).error_code, wire(ErrorCode::unknown_topic_id));
  const auto answer = fetch(13, 0, 1, 1 << 20);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->response.responses.at(0).partitions.at(0).error_code, wire(ErrorCode::unknown_topic_id));
}

TEST_F(RequestsSim, OnlyAPowerCutRaisesTheEpochOfAPartitionThatIsNotSynced) {
  start();
  const SimTopic fast{"fast", 1};
  ASSERT_TRUE(create_topic(*world, fast, {{"mq.flush", "async"}}));
  const auto epoch = [&] {
    const auto image = world->broker().services().controller.image();
    return image->find_topic(std::string_view{fast.name})->partitions.at(0).leader_epoch.value;
  };
  world->crash(CrashMode::process_death);
  ASSERT_TRUE(world->start_broker()) << world->why();
  EXPECT_EQ(epoch(), 0);
  world->crash(CrashMode::power_cut);
  ASSERT_TRUE(world->start_broker()) << world->why();
  EXPECT_EQ(epoch(), 1);
}

// What /metrics lists is counted: a row that stays 0 while there is work to count has been forgotten.
TEST_F(RequestsSim, EveryCounterCounts) {
  start();
  ASSERT_EQ(produce(12).error_code, 0);
  ASSERT_TRUE(fetch(12, 0, 1, 1 << 20));
  ASSERT_TRUE(fetch(12, 99, 1, 1 << 20));  // an error code
  const std::set<std::string_view> only_after_trouble{
      "weir_unhandled_exceptions_total", "weir_connections_refused_total", "weir_log_damaged_entries_total",
      "weir_memory_batches_dropped_total", "weir_log_scrubbed_bytes_total"};  // the last: once a segment is sealed
  const auto text = prometheus_text(world->broker().services().metrics);
  for (const auto& row : metric_rows()) {
    const bool counts = row.kind.starts_with("Counter") || row.kind.starts_with("Histogram");
    if (!counts || only_after_trouble.contains(row.name)) {
      continue;
    }
    // "name 3", "name{label} 3", or a histogram's "name_count 3"
    const std::regex counted{"\n" + std::string{row.name} + "(_count)?(\\{[^}]*\\})? [1-9]"};
    EXPECT_TRUE(std::regex_search(text, counted)) << row.name;
  }
}

TEST_F(RequestsSim, ASequenceErrorTellsWhereTheLogStarts) {
  start();
  const BatchOptions first{.producer_id = 5, .producer_epoch = 0, .base_sequence = 0};
  ASSERT_EQ(produce(12, first).error_code, 0);
  const BatchOptions gap{.producer_id = 5, .producer_epoch = 0, .base_sequence = 9};
  const auto refused = produce(12, gap);
  EXPECT_EQ(refused.error_code, wire(ErrorCode::out_of_order_sequence_number));
  EXPECT_EQ(refused.log_start_offset, 0);
}

TEST_F(RequestsSim, ListOffsetsAnswersAPartitionThatIsNamedTwiceOnce) {
  start();
  ListOffsetsRequest request;
  auto& topic = request.topics.emplace_back();
  topic.name = kTopic.name;
  topic.partitions.push_back({.partition_index = 0, .timestamp = -1});
  topic.partitions.push_back({.partition_index = 0, .timestamp = -2});
  const auto answer = call<ListOffsetsResponse>(request, 7);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->response.topics.at(0).partitions.size(), 1U);
  EXPECT_EQ(answer->response.topics.at(0).partitions.at(0).error_code, wire(ErrorCode::invalid_request));
}

TEST_F(RequestsSim, MetadataOfManyNamesAnswersEachOfThem) {
  start();
  MetadataRequest request;
  request.allow_auto_topic_creation = false;
  request.topics.emplace();
  request.topics->push_back({.name = kTopic.name});
  for (int i = 0; i < 3000; ++i) {
    request.topics->push_back({.name = "absent" + std::to_string(i)});
  }
  const auto answer = call<MetadataResponse>(request, 9);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->response.topics.size(), 3001U);
  EXPECT_EQ(answer->response.topics.front().error_code, 0);
  EXPECT_EQ(answer->response.topics.back().error_code, wire(ErrorCode::unknown_topic_or_partition));
}

TEST_F(RequestsSim, ManyPartitionsOfOneTopicEachGetTheirAnswer) {
  start();
  ProduceRequest request{.acks = -1, .timeout_ms = 30'000};
  auto& topic = request.topic_data.emplace_back();
  topic.name = kTopic.name;
  for (std::int32_t index = 1; index <= 100; ++index) {
    topic.partition_data.push_back({.index = index});
  }
  topic.partition_data.push_back({.index = 50});
  const auto answer = call<ProduceResponse>(request, 12);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->response.responses.at(0).partition_responses.size(), 100U);
}

// One batch of `count` records for partition 0.
ProduceRequest::PartitionProduceData records(int count, std::int32_t partition) {
  RecordBatchBuilder builder{BatchOptions{}};
  for (int i = 0; i < count; ++i) {
    builder.append({.value = as_bytes(std::string_view{"value"}), .timestamp = 1'700'000'000'000});
  }
  return {.index = partition, .records = BufferChain{SharedBytes::adopt(std::move(*builder.build()))}};
}

TEST_F(RequestsSim, AProduceAnswersATopicThatIsNamedTwiceOnceAndTakesTheLastBatchOfAPartition) {
  start();
  const SimTopic two{"pairs", 2};
  ASSERT_TRUE(create_topic(*world, two));
  ProduceRequest request{.acks = -1, .timeout_ms = 30'000};
  for (int i = 0; i < 3; ++i) {
    request.topic_data.emplace_back().name = two.name;
  }
  request.topic_data[0].partition_data.push_back(records(1, 0));
  request.topic_data[0].partition_data.push_back(records(2, 0));
  request.topic_data[1].partition_data.push_back(records(4, 1));
  request.topic_data.emplace_back().name = "none";
  const auto answer = call<ProduceResponse>(request, 12);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->response.responses.size(), 1U) << "topics without partitions are not answered";
  ASSERT_EQ(answer->response.responses[0].partition_responses.size(), 2U);
  ListOffsetsRequest ends;
  for (std::int32_t index = 0; index < 2; ++index) {
    auto& topic = ends.topics.emplace_back();
    topic.name = two.name;
    topic.partitions.push_back({.partition_index = index, .timestamp = -1});
  }
  const auto listed = call<ListOffsetsResponse>(ends, 7);
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->response.topics.size(), 1U);
  EXPECT_EQ(listed->response.topics[0].partitions.at(0).offset, 2);
  EXPECT_EQ(listed->response.topics[0].partitions.at(1).offset, 4);
}

TEST_F(RequestsSim, AnyEpochBelowZeroButMinusOneIsAnOldOneExceptInAFetch) {
  start();
  ListOffsetsRequest request;
  request.topics.emplace_back().name = kTopic.name;
  auto& part = request.topics[0].partitions.emplace_back();
  part = {.partition_index = 0, .current_leader_epoch = -1, .timestamp = -1};
  EXPECT_EQ(call<ListOffsetsResponse>(request, 7)->response.topics.at(0).partitions.at(0).error_code, 0);
  part.current_leader_epoch = -5;
  EXPECT_EQ(call<ListOffsetsResponse>(request, 7)->response.topics.at(0).partitions.at(0).error_code,
            wire(ErrorCode::fenced_leader_epoch));
  FetchRequest fetch{.min_bytes = 0, .max_bytes = 100, .session_epoch = -1};
  fetch.topics.emplace_back().topic = kTopic.name;
  fetch.topics[0].partitions.push_back({.partition = 0, .current_leader_epoch = -5});
  EXPECT_EQ(call<FetchResponse>(fetch, 12)->response.responses.at(0).partitions.at(0).error_code, 0);
}

TEST_F(RequestsSim, APageThatBeginsBeforeTheFirstPartitionIsRefused) {
  start();
  DescribeTopicPartitionsRequest request;
  request.topics.push_back({.name = kTopic.name});
  request.cursor = {.topic_name = kTopic.name, .partition_index = -1};
  const auto answer = call<DescribeTopicPartitionsResponse>(request, 0);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->response.topics.size(), 1U);
  EXPECT_EQ(answer->response.topics[0].error_code, wire(ErrorCode::invalid_request));
  EXPECT_TRUE(answer->response.topics[0].partitions.empty());
}

TEST_F(RequestsSim, AFullPageEndsBeforeATopicThatIsNotThereToo) {
  start();
  DescribeTopicPartitionsRequest request;
  request.topics = {{.name = kTopic.name}, {.name = "zz"}};
  request.response_partition_limit = 1;
  const auto page = call<DescribeTopicPartitionsResponse>(request, 0);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->response.topics.size(), 1U);
  ASSERT_TRUE(page->response.next_cursor);
  EXPECT_EQ(page->response.next_cursor->topic_name, "zz");
  request.response_partition_limit = 2;
  const auto whole = call<DescribeTopicPartitionsResponse>(request, 0);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->response.topics.size(), 2U);
  EXPECT_FALSE(whole->response.next_cursor);
}

TEST_F(RequestsSim, ApiVersionsTakesClusterAndNodeTogetherAndOnlyItsOwn) {
  start();
  const auto own = world->broker().services().identity.cluster_id;
  const auto node = world->broker().services().identity.node_id;
  const auto code = [&](std::optional<std::string> cluster, std::int32_t id) {
    ApiVersionsRequest request{.client_software_name = "test", .client_software_version = "1", .node_id = id};
    request.cluster_id = cluster ? std::optional<Text>{*cluster} : std::nullopt;
    const auto answer = call<ApiVersionsResponse>(request, 5);
    return answer ? answer->response.error_code : std::int16_t{-7};
  };
  EXPECT_EQ(code({}, -1), 0);
  EXPECT_EQ(code(own, node), 0);
  for (const std::int32_t id : {node, node + 1, 0, -5}) {
    EXPECT_EQ(code({}, id), wire(ErrorCode::invalid_request)) << id;
    EXPECT_EQ(code("another", id), wire(ErrorCode::rebootstrap_required)) << id;
  }
  EXPECT_EQ(code(own, -1), wire(ErrorCode::invalid_request));
  EXPECT_EQ(code("another", -1), wire(ErrorCode::invalid_request));
  EXPECT_EQ(code(own, node + 1), wire(ErrorCode::rebootstrap_required));
}

TEST_F(RequestsSim, ConfigResourcesAreTopicsGroupsWithConfigsAndThisNode) {
  start();
  IncrementalAlterConfigsRequest change;
  change.resources.push_back({.resource_type = 32, .resource_name = "g"});
  change.resources[0].configs.push_back({.name = "consumer.session.timeout.ms", .value = "50000"});
  ASSERT_EQ(call<IncrementalAlterConfigsResponse>(change, 1)->response.responses.at(0).error_code, 0);
  const auto list = [&](std::vector<std::int8_t> types, std::int16_t version = 1) {
    ListConfigResourcesRequest request;
    request.resource_types = std::move(types);
    const auto answer = call<ListConfigResourcesResponse>(request, version);
    std::vector<std::string> all;
    for (const auto& resource : answer->response.config_resources) {
      if (resource.resource_name != "__consumer_offsets") {
        all.push_back(std::to_string(resource.resource_type) + " " + resource.resource_name.str());
      }
    }
    if (answer->response.error_code != 0) {
      all.push_back("error " + std::to_string(answer->response.error_code));
    }
    return all;
  };
  using Names = std::vector<std::string>;
  const auto node = std::to_string(world->broker().services().identity.node_id);
  EXPECT_EQ(list({}), (Names{"32 g", "8 " + node, "4 " + node, "2 orders"}));
  EXPECT_EQ(list({2, 32, 2}), (Names{"32 g", "2 orders"}));
  EXPECT_EQ(list({16}), Names{});
  EXPECT_EQ(list({}, 0), Names{}) << "subscriptions to metrics only";
  EXPECT_EQ(list({2, 3}), Names{"error 35"});
  change.resources[0].configs[0].config_operation = 1;
  ASSERT_EQ(call<IncrementalAlterConfigsResponse>(change, 1)->response.responses.at(0).error_code, 0);
  EXPECT_EQ(list({32}), Names{}) << "without configs a group is not listed";
}

TEST_F(RequestsSim, MetadataWithOneIdIsAskedByIdsAlone) {
  start();
  const auto id = world->broker().services().controller.image()->find_topic(std::string_view{kTopic.name})->id;
  MetadataRequest request;
  request.topics = {{.name = "zz"}, {.topic_id = id, .name = "other"}, {.name = kTopic.name}};
  const auto answer = call<MetadataResponse>(request, 12);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->response.topics.size(), 1U);
  EXPECT_EQ(answer->response.topics[0].topic_id, id);
  request.topics->at(1).topic_id = {};
  const auto named = call<MetadataResponse>(request, 12);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->response.topics.size(), 3U);
}

TEST_F(RequestsSim, NothingOfAProduceIsTakenWhenOneBatchIsTheEndOfItAll) {
  start();
  const SimTopic two{"pairs", 2};
  ASSERT_TRUE(create_topic(*world, two));
  const auto codes = [&](std::uint16_t attributes, std::int16_t version) {
    ProduceRequest request{.acks = -1, .timeout_ms = 30'000};
    request.topic_data.emplace_back().name = two.name;
    request.topic_data[0].partition_data.push_back(records(1, 0));
    auto bad = std::get<SharedBytes>(records(1, 1).records->pieces().front());
    std::vector<std::byte> bytes{bad.view().begin(), bad.view().end()};
    store_be(bytes, kAttributesAt, attributes);
    request.topic_data[0].partition_data.push_back(
        {.index = 1, .records = BufferChain{SharedBytes::adopt(std::move(bytes))}});
    const auto answer = call<ProduceResponse>(request, version);
    std::vector<std::int16_t> found;
    for (const auto& part : answer->response.responses.at(0).partition_responses) {
      found.push_back(part.error_code);
    }
    return found;
  };
  EXPECT_EQ(codes(5, 6), (std::vector<std::int16_t>{-1, -1}));
  EXPECT_EQ(codes(kTransactionalBit, 12), (std::vector<std::int16_t>{53, 53}));
  EXPECT_EQ(codes(5, 12).at(0), 0) << "from version 7 on a codec is one partition's matter";
  const auto& services = world->broker().services();
  const auto id = services.controller.image()->find_topic(std::string_view{two.name})->id;
  EXPECT_EQ(services.log.find({id, 0})->log_end(), Offset{1}) << "of three batches one was taken";
}

TEST_F(RequestsSim, AFetchThatHasToGoBackHasNoListOfAbortedTransactions) {
  start();
  FetchRequest request{.min_bytes = 0, .max_bytes = 100, .isolation_level = 1, .session_epoch = -1};
  request.topics.emplace_back().topic = kTopic.name;
  request.topics[0].partitions.push_back({.partition = 0, .fetch_offset = 1, .last_fetched_epoch = 0});
  const auto back = call<FetchResponse>(request, 12);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->response.responses.at(0).partitions.at(0).diverging_epoch.end_offset, 0);
  EXPECT_FALSE(back->response.responses.at(0).partitions.at(0).aborted_transactions.has_value());
  request.topics[0].partitions[0].fetch_offset = 0;
  const auto here = call<FetchResponse>(request, 12);
  ASSERT_TRUE(here);
  EXPECT_TRUE(here->response.responses.at(0).partitions.at(0).aborted_transactions.has_value());
}

TEST_F(RequestsSim, ANegativeIdleMaximumKeepsConnections) {
  auto config = small_broker_config();
  config.connections_max_idle_ms = -1;
  start(std::move(config));
  world->run_until([] { return false; }, 3'600'000);
  EXPECT_EQ(produce(12).error_code, 0);
}

}  // namespace
}  // namespace weir::sim
