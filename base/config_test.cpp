#include "base/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/topic_config.hpp"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LoadedConfig load(std::vector<std::pair<std::string, std::string>> settings,
                  ConfigInput::From from = ConfigInput::From::command_line) {
  std::vector<ConfigInput> inputs;
  for (auto& [name, value] : settings) {
    inputs.push_back({name, value, from});
  }
  return load_config(inputs);
}

TEST(ConfigRows, EachIsDescribedSortedAndHasADefaultThatItAllows) {
  for (const auto rows : {config_rows(), topic_config_rows()}) {
    EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &ConfigRow::name));
    for (const auto& row : rows) {
      EXPECT_FALSE(row.doc.empty()) << row.name;
      if (row.default_value && row.valid != "non-empty list") {
        EXPECT_EQ(check_value(row, *row.default_value), std::nullopt) << row.name;
      }
    }
  }
  const auto ours = std::ranges::count_if(config_rows(), [](const auto& row) { return row.name.starts_with("mq."); });
  EXPECT_EQ(std::ssize(config_rows()) - ours, 379) << "as many as Kafka 4.4 has";
}

using Synonym = DescribedConfig::Synonym;

DescribedConfig described(const std::vector<DescribedConfig>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &DescribedConfig::name);
  return found == all.end() ? DescribedConfig{.value = "absent"} : *found;
}

TEST(Config, DefaultsAreOurIdentityAndLoadWithoutComplaint) {
  const auto loaded = load({});
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.config.node_id, 1);
  EXPECT_TRUE(loaded.config.auto_create_topics_enable);
  EXPECT_THAT(loaded.config.bound_listeners(), ElementsAre(ConfiguredListener{"PLAINTEXT", {"127.0.0.1", 9092}, {}}));
  EXPECT_EQ(loaded.config.http_endpoint(), (Endpoint{"127.0.0.1", 9644}));
}

TEST(Config, AValueOutsideItsRangeNamesKeyValueAndWhatIsAllowed) {
  EXPECT_THAT(load({{"num.partitions", "0"}}).errors,
              ElementsAre("Invalid value 0 for configuration num.partitions: must be at least 1"));
  EXPECT_THAT(load({{"num.partitions", "1"}}).errors, IsEmpty());
  EXPECT_THAT(load({{"num.partitions", "ten"}}).errors,
              ElementsAre("Invalid value ten for configuration num.partitions: not a number of type INT"));
  EXPECT_THAT(load({{"num.partitions", "2147483648"}}).errors.size(), 1U);
  EXPECT_THAT(load({{"compression.gzip.level", "-1"}}).errors, IsEmpty());
  EXPECT_THAT(load({{"compression.gzip.level", "0"}}).errors.size(), 1U);
  EXPECT_THAT(load({{"compression.gzip.level", "10"}}).errors,
              ElementsAre("Invalid value 10 for configuration compression.gzip.level: must be no more than 9"));
  EXPECT_THAT(load({{"mq.flush", "never"}}).errors,
              ElementsAre("Invalid value never for configuration mq.flush: must be one of: sync, async"));
  EXPECT_THAT(load({{"mq.storage", "memory"}}).errors, IsEmpty());
  EXPECT_THAT(load({{"mq.storage", "disk"}}).errors,
              ElementsAre("Invalid value disk for configuration mq.storage: must be one of: log, memory"));
  EXPECT_THAT(load({{"auto.create.topics.enable", "yes"}}).errors,
              ElementsAre("Invalid value yes for configuration auto.create.topics.enable: must be true or false"));
  EXPECT_THAT(load({{"auto.create.topics.enable", "FALSE"}}).errors, IsEmpty());
}

TEST(Config, AnUnknownKeyIsAWarningInAFileAndAnErrorElsewhereAndForOurOwnKeys) {
  const auto from_file = load({{"log.retention.hour", "1"}}, ConfigInput::From::file);
  EXPECT_THAT(from_file.errors, IsEmpty());
  EXPECT_THAT(from_file.warnings,
              ElementsAre("unknown configuration key log.retention.hour; did you mean log.retention.hours?"));
  EXPECT_THAT(load({{"log.retention.hour", "1"}}).errors.size(), 1U);
  EXPECT_THAT(load({{"mq.flsh", "sync"}}, ConfigInput::From::file).errors, ElementsAre(HasSubstr("mq.flush")));
  EXPECT_THAT(load({{"acks", "1"}}).errors, ElementsAre("unknown configuration key acks")) << "nothing is near";
}

TEST(Config, AValueThatALaterOneReplacesIsNotComplainedAbout) {
  const auto loaded = load({{"num.partitions", "many"}, {"num.partitions", "3"}});
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_EQ(loaded.config.num_partitions, 3);
  EXPECT_THAT(load({{"num.partitions", "3"}, {"num.partitions", "many"}}).errors.size(), 1U);
}

TEST(Config, AnExistingServerPropertiesWorksAndItsControllerListenerIsIgnored) {
  const auto loaded = load({{"process.roles", "broker,controller"},
                            {"controller.quorum.voters", "1@localhost:9093"},
                            {"listeners", "PLAINTEXT://:9092,CONTROLLER://:9093"},
                            {"inter.broker.listener.name", "PLAINTEXT"},
                            {"advertised.listeners", "PLAINTEXT://broker.example:9092"},
                            {"log.dirs", "somewhere"}},
                           ConfigInput::From::file);
  EXPECT_THAT(loaded.errors, IsEmpty());
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("CONTROLLER")));
  EXPECT_THAT(loaded.config.bound_listeners(),
              ElementsAre(ConfiguredListener{"PLAINTEXT", {"", 9092}, Endpoint{"broker.example", 9092}}));
  EXPECT_EQ(loaded.config.data_folder(), "somewhere");
}

TEST(Config, ListenersThatCannotBeServedAreErrors) {
  EXPECT_THAT(load({{"listeners", "SSL://:9093"}}).errors, ElementsAre(HasSubstr("SSL is not served yet")));
  EXPECT_THAT(load({{"listeners", "localhost:9092"}}).errors, ElementsAre(HasSubstr("NAME://HOST:PORT")));
  EXPECT_THAT(load({{"listeners", "PLAINTEXT://h:99999"}}).errors.size(), 1U);
  EXPECT_THAT(load({{"listeners", "CONTROLLER://:9093"}}).errors.size(), 1U) << "no address is left";
  EXPECT_THAT(load({{"advertised.listeners", "PLAINTEXT://0.0.0.0:1"}}).errors.size(), 1U);
  EXPECT_THAT(load({{"log.dirs", "a,b"}}).errors, ElementsAre(HasSubstr("log.dirs")));
  EXPECT_THAT(load({{"mq.http.listen", "nowhere"}}).errors, ElementsAre(HasSubstr("mq.http.listen")));
  EXPECT_THAT(load({{"listeners", "OUT://:9092"}, {"listener.security.protocol.map", "OUT:PLAINTEXT"}}).errors,
              IsEmpty());
}

TEST(Config, TheOldNameOfTheNodeIdIsTaken) {
  EXPECT_EQ(load({}).config.node_id, 1);
  EXPECT_EQ(load({{"broker.id", "5"}}).config.node_id, 5);
  EXPECT_EQ(load({{"broker.id", "5"}, {"node.id", "5"}}).config.node_id, 5);
  EXPECT_THAT(load({{"broker.id", "5"}, {"node.id", "1"}}).errors, ElementsAre(HasSubstr("broker.id is 5")));
  EXPECT_THAT(load({{"broker.id", "-1"}, {"node.id", "1"}}).errors.size(), 1U) << "as in Kafka";
  EXPECT_THAT(load({{"broker.id", "-1"}}).errors, ElementsAre(HasSubstr("must be at least 0")));
  const auto told = described(load({{"broker.id", "5"}}).config.describe(), "node.id");
  EXPECT_EQ(told.value, "5");
  EXPECT_EQ(told.source, ConfigSource::static_broker);
}

TEST(Config, TheRequestMemoryFollowsTheLargestRequestUnlessSomebodySetsIt) {
  const auto config = load({{"socket.request.max.bytes", "209715200"}}).config;
  EXPECT_EQ(config.mq_request_memory_bytes, 209'715'200);
  const auto told = described(config.describe(), "mq.request.memory.bytes");
  EXPECT_EQ(told.value, "209715200");
  EXPECT_EQ(told.source, ConfigSource::default_value);
  EXPECT_EQ(load({{"socket.request.max.bytes", "1048576"}}).config.mq_request_memory_bytes, 134'217'728);
  EXPECT_THAT(load({{"socket.request.max.bytes", "209715200"}, {"mq.request.memory.bytes", "134217728"}}).errors,
              ElementsAre(HasSubstr("mq.request.memory.bytes (134217728) must be at least")));
}

TEST(Config, ABatchThatNoRequestCouldCarryIsToldAtStart) {
  EXPECT_THAT(load({{"message.max.bytes", "104857601"}}).warnings,
              ElementsAre(HasSubstr("is over socket.request.max.bytes")));
  EXPECT_THAT(load({{"message.max.bytes", "104857600"}}).warnings, IsEmpty());
}

TEST(Config, AValueThatAsksAConfigProviderIsRefusedWhereItWouldMatter) {
  const auto load_with = [](std::string name, std::string value) {
    return load({{"config.providers", "env"}, {std::move(name), std::move(value)}}, ConfigInput::From::file);
  };
  EXPECT_THAT(load_with("log.dirs", "${env:DATA}").errors, ElementsAre(HasSubstr("no config.providers")));
  EXPECT_THAT(load_with("node.id", "${env:ID}").errors, ElementsAre(HasSubstr("no config.providers")));
  EXPECT_THAT(load_with("ssl.key.password", "${env:SECRET}").errors, IsEmpty()) << "nothing reads it";
  EXPECT_THAT(load({{"log.dirs", "${env:DATA}"}}).errors, IsEmpty()) << "a folder of that name, as in Kafka";
}

TEST(Config, TheRequestMemoryHoldsAtLeastTheLargestRequest) {
  EXPECT_THAT(load({{"mq.request.memory.bytes", "104857600"}}).errors, IsEmpty());
  EXPECT_THAT(load({{"mq.request.memory.bytes", "104857599"}}).errors,
              ElementsAre(HasSubstr("socket.request.max.bytes")));
}

TEST(Config, DescribeTellsSourceTypeAndSynonymsAndHidesSecrets) {
  const auto loaded = load({{"num.partitions", " 3 "}, {"ssl.key.password", "secret"}});
  int seen = 0;
  for (const auto& entry : loaded.config.describe()) {
    if (entry.name == "num.partitions") {
      EXPECT_EQ(entry.value, "3");
      EXPECT_EQ(entry.source, ConfigSource::static_broker);
      EXPECT_EQ(entry.type, ConfigType::int32);
      EXPECT_THAT(entry.synonyms,
                  ElementsAre(DescribedConfig::Synonym{"num.partitions", "3", ConfigSource::static_broker},
                              DescribedConfig::Synonym{"num.partitions", "1", ConfigSource::default_value}));
      ++seen;
    }
    if (entry.name == "ssl.key.password") {
      EXPECT_TRUE(entry.sensitive);
      EXPECT_EQ(entry.value, std::nullopt);
      EXPECT_EQ(entry.synonyms.at(0).value, std::nullopt);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2);
}

TEST(TopicConfig, DefaultsAreKafkasAndEachKeyIsToldButInternalOnes) {
  const TopicConfig config;
  EXPECT_EQ(config.retention_ms, 604'800'000);
  EXPECT_EQ(config.max_message_bytes, 1'048'588);
  EXPECT_TRUE(config.deletes());
  EXPECT_FALSE(config.compacts());
  EXPECT_TRUE(config.synced());
  EXPECT_EQ(describe_topic_config({}, Config{}).size(), 37U + 2U) << "Kafka's and ours";
}

std::int64_t retention(std::vector<std::pair<std::string, std::string>> broker, const TopicOverrides& overrides = {}) {
  return TopicConfig{overrides, load(std::move(broker)).config}.retention_ms;
}

TEST(TopicConfig, TheFinestUnitOfTheBrokerWinsAndATopicsOwnValueOverAll) {
  EXPECT_EQ(retention({{"log.retention.hours", "2"}}), 7'200'000);
  EXPECT_EQ(retention({{"log.retention.hours", "2"}, {"log.retention.minutes", "5"}}), 300'000);
  EXPECT_EQ(retention({{"log.retention.hours", "2"}, {"log.retention.minutes", "5"}, {"log.retention.ms", "7"}}), 7);
  EXPECT_EQ(retention({{"log.retention.hours", "-1"}}), -1);
  EXPECT_EQ(retention({{"log.retention.ms", "7"}}, {{"retention.ms", "1000"}}), 1000);
}

TEST(TopicConfig, AsyncFlushIsOverruledByKafkasOwnWishForSyncs) {
  EXPECT_FALSE((TopicConfig{{{"mq.flush", "async"}}, Config{}}).synced());
  EXPECT_TRUE((TopicConfig{{{"mq.flush", "async"}, {"flush.messages", "1"}}, Config{}}).synced());
  EXPECT_FALSE((TopicConfig{{}, load({{"mq.flush", "async"}}).config}).synced());
  EXPECT_FALSE((TopicConfig{{}, load({{"mq.storage", "memory"}}).config}).in_memory()) << "it is settled at creation";
  EXPECT_TRUE((TopicConfig{{{"mq.flush", "sync"}}, load({{"mq.flush", "async"}}).config}).synced());
}

TEST(TopicConfig, UnknownNamesAndBadValuesAreRefusedWithASentence) {
  EXPECT_EQ(check_topic_config("cleanup.policy", "compact,delete"), std::nullopt);
  EXPECT_EQ(check_topic_config("cleanup.policy", ""), std::nullopt) << "keep for ever";
  EXPECT_THAT(*check_topic_config("cleanup.policy", "burn"), HasSubstr("must be one of: compact, delete"));
  EXPECT_THAT(*check_topic_config("cleanup.policy", "delete,delete"), HasSubstr("twice"));
  EXPECT_EQ(*check_topic_config("no.such", "1"), "Unknown topic config name: no.such");
  EXPECT_EQ(check_topic_config("segment.bytes", "1048576"), std::nullopt);
  EXPECT_TRUE(check_topic_config("segment.bytes", "1048575"));
  EXPECT_EQ(check_topic_config("min.cleanable.dirty.ratio", "1"), std::nullopt);
  EXPECT_TRUE(check_topic_config("min.cleanable.dirty.ratio", "1.1"));
  EXPECT_EQ(check_topic_config("leader.replication.throttled.replicas", "0:1,1:1"), std::nullopt);
  EXPECT_EQ(check_topic_config("leader.replication.throttled.replicas", "*"), std::nullopt);
  EXPECT_TRUE(check_topic_config("leader.replication.throttled.replicas", "0"));
}

TEST(Config, WhatIsSetForThisBrokerWinsOverWhatIsSetForAllAndBothOverTheFile) {
  const auto fixed = load({{"message.max.bytes", "3000"}, {"num.partitions", "7"}}).config;
  const auto config = fixed.with_dynamic({{"message.max.bytes", "2000"}, {"log.preallocate", "TRUE"}},
                                         {{"message.max.bytes", " 1000"}});
  EXPECT_EQ(config.value("message.max.bytes"), " 1000");
  EXPECT_TRUE(TopicConfig({}, config).preallocate);
  EXPECT_EQ(config.num_partitions, 7);
  EXPECT_EQ(fixed.value("message.max.bytes"), "3000") << "the static one stays as it is";
  const auto told = described(config.describe(), "message.max.bytes");
  EXPECT_EQ(told.value, "1000");
  EXPECT_EQ(told.source, ConfigSource::dynamic_broker);
  EXPECT_THAT(told.synonyms, ElementsAre(Synonym{"message.max.bytes", " 1000", ConfigSource::dynamic_broker},
                                         Synonym{"message.max.bytes", "2000", ConfigSource::dynamic_default_broker},
                                         Synonym{"message.max.bytes", "3000", ConfigSource::static_broker},
                                         Synonym{"message.max.bytes", "1048588", ConfigSource::default_value}));
  const auto for_all = config.describe_for_all();
  ASSERT_EQ(for_all.size(), 2U) << "only what somebody set";
  EXPECT_EQ(described(for_all, "log.preallocate").value, "true");
  EXPECT_THAT(described(for_all, "message.max.bytes").synonyms,
              ElementsAre(Synonym{"message.max.bytes", "2000", ConfigSource::dynamic_default_broker}));
}

TEST(Config, WhatNoBrokerOfThisKindWouldHaveAllowedIsLeftOut) {
  const auto config = Config{}.with_dynamic({{"num.partitions", "9"}, {"message.max.bytes", "many"}}, {});
  EXPECT_EQ(config.num_partitions, 1) << "read-only";
  EXPECT_EQ(config.value("message.max.bytes"), "1048588");
}

TEST(Config, AKeyOfNoTableIsKeptSecretAndAKeyOfAListenerIsToldWithTheKeyItStandsFor) {
  const auto config = Config{}.with_dynamic(
      {{"my.key", "secret"}},
      {{"listener.name.inside.ssl.keystore.type", "PEM"}, {"listener.name.inside.ssl.keystore.password", "secret"}});
  const auto all = config.describe();
  const auto custom = described(all, "my.key");
  EXPECT_TRUE(custom.sensitive && custom.read_only && !custom.value) << "as Kafka tells it";
  EXPECT_EQ(custom.type, ConfigType::unknown);
  EXPECT_EQ(custom.source, ConfigSource::dynamic_default_broker);
  const auto type = described(all, "listener.name.inside.ssl.keystore.type");
  EXPECT_EQ(type.value, "PEM");
  EXPECT_THAT(type.synonyms,
              ElementsAre(Synonym{"listener.name.inside.ssl.keystore.type", "PEM", ConfigSource::dynamic_broker},
                          Synonym{"ssl.keystore.type", "JKS", ConfigSource::default_value}));
  EXPECT_EQ(described(all, "listener.name.inside.ssl.keystore.password").value, std::nullopt);
}

TEST(Config, KafkasInternalKeysAreToldOnlyWhereTheyAreSet) {
  EXPECT_EQ(described(Config{}.describe(), "group.share.assignor.offload.enable").value, "absent");
  const auto config = Config{}.with_dynamic({{"group.share.assignor.offload.enable", "false"}}, {});
  EXPECT_EQ(described(config.describe(), "group.share.assignor.offload.enable").value, "false");
}

TEST(ConfigRow, AValueIsToldAsItsTypeWritesIt) {
  const auto told = [](std::string_view name, std::string_view value) {
    return canonical_value(*find_config_row(name), value);
  };
  EXPECT_EQ(told("num.partitions", " +9 "), "9");
  EXPECT_EQ(told("log.preallocate", "TRUE"), "true");
  EXPECT_EQ(told("log.cleanup.policy", "compact, delete"), "compact,delete");
  EXPECT_EQ(told("log.cleaner.min.cleanable.ratio", "1"), "1.0");
  EXPECT_EQ(told("log.cleaner.min.cleanable.ratio", "0.50"), "0.5");
  EXPECT_EQ(told("log.cleaner.io.max.bytes.per.second", "1.7976931348623157E308"), "1.7976931348623157E308");
}

TEST(TopicConfig, SynonymsBeginWithWhatHoldsAndGoLayerByLayer) {
  const auto fixed = load({{"log.retention.minutes", "50"}, {"log.retention.hours", "100"}}).config;
  const auto broker = fixed.with_dynamic({{"log.retention.ms", "2000"}}, {{"log.retention.ms", "1000"}});
  const auto told = described(describe_topic_config({{"retention.ms", "7000"}}, broker), "retention.ms");
  EXPECT_EQ(told.source, ConfigSource::topic);
  EXPECT_THAT(told.synonyms, ElementsAre(Synonym{"retention.ms", "7000", ConfigSource::topic},
                                         Synonym{"log.retention.ms", "1000", ConfigSource::dynamic_broker},
                                         Synonym{"log.retention.ms", "2000", ConfigSource::dynamic_default_broker},
                                         Synonym{"log.retention.minutes", "50", ConfigSource::static_broker},
                                         Synonym{"log.retention.hours", "100", ConfigSource::static_broker},
                                         Synonym{"log.retention.hours", "168", ConfigSource::default_value}));
  EXPECT_EQ(described(describe_topic_config({}, broker), "retention.ms").value, "1000");
}

TEST(TopicConfig, WhereOnlyACoarserUnitIsSetNoSourceIsToldAsKafkaDoes) {
  const auto broker = load({{"log.retention.minutes", "50"}}).config;
  const auto told = described(describe_topic_config({}, broker), "retention.ms");
  EXPECT_EQ(told.value, "3000000");
  EXPECT_EQ(told.source, ConfigSource::default_value);
  EXPECT_THAT(told.synonyms, IsEmpty());
  EXPECT_THAT(described(describe_topic_config({}, broker), "max.message.bytes").synonyms,
              ElementsAre(Synonym{"message.max.bytes", "1048588", ConfigSource::default_value}));
}

TEST(TopicConfig, DefaultsOfTopicsChangeOnlyWithKeysThatTheyComeFrom) {
  const Config before;
  EXPECT_TRUE(same_topic_defaults(before, before.with_dynamic({{"log.cleaner.threads", "2"}}, {})));
  EXPECT_FALSE(same_topic_defaults(before, before.with_dynamic({{"compression.type", "zstd"}}, {})));
}

}  // namespace
}  // namespace weir
