#include "base/config_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

LoadedConfig load(std::vector<std::pair<std::string, std::string>> settings) {
  std::vector<ConfigInput> inputs;
  for (auto& [name, value] : settings) {
    inputs.push_back({name, value, ConfigInput::From::file});
  }
  return load_config(inputs);
}

TEST(ConfigNotes, ABrokerWithAnAuthorizerDoesNotStartOpen) {
  for (const auto* name : {"org.apache.kafka.metadata.authorizer.StandardAuthorizer", "my.Authorizer"}) {
    const auto loaded = load({{"authorizer.class.name", name}, {"super.users", "User:admin"}});
    EXPECT_THAT(loaded.errors, ElementsAre(AllOf(HasSubstr("authorizer.class.name"), HasSubstr(name))));
  }
  EXPECT_THAT(load({{"authorizer.class.name", ""}}).errors, IsEmpty());
}

TEST(ConfigNotes, KeysThatWouldGuardAreToldInOneLoudLine) {
  const auto loaded = load({{"sasl.enabled.mechanisms", "SCRAM-SHA-512"},
                            {"ssl.keystore.location", "server.p12"},
                            {"listener.name.external.ssl.client.auth", "required"},
                            {"listener.name.external.scram-sha-512.sasl.jaas.config", "secret words"},
                            {"super.users", "User:admin"},
                            {"create.topic.policy.class.name", "my.Policy"},
                            {"security.inter.broker.protocol", "SSL"}});
  EXPECT_THAT(loaded.errors, IsEmpty());
  ASSERT_EQ(loaded.warnings.size(), 1U);
  EXPECT_THAT(loaded.warnings.front(),
              AllOf(HasSubstr("NOTHING IS GUARDED"), HasSubstr("sasl.enabled.mechanisms"), HasSubstr("super.users"),
                    HasSubstr("listener.name.external.ssl.client.auth"), HasSubstr("create.topic.policy.class.name"),
                    HasSubstr("sasl.jaas.config"), Not(HasSubstr("secret words"))));
}

TEST(ConfigNotes, AsTheDefaultSaysIsAsGoodAsNotSet) {
  EXPECT_THAT(load({{"ssl.client.auth", "none"},
                    {"security.inter.broker.protocol", "PLAINTEXT"},
                    {"sasl.mechanism.inter.broker.protocol", "GSSAPI"},
                    {"queued.max.requests", "500"}})
                  .warnings,
              IsEmpty());
}

TEST(ConfigNotes, KeysThatChangeNothingAreToldInOneLine) {
  const auto loaded =
      load({{"queued.max.requests", "9"}, {"transaction.max.timeout.ms", "60000"}, {"num.partitions", "3"}});
  EXPECT_THAT(loaded.warnings,
              ElementsAre(AllOf(HasSubstr("change nothing"), HasSubstr("queued.max.requests"),
                                HasSubstr("transaction.max.timeout.ms"), Not(HasSubstr("num.partitions")))));
}

TEST(ConfigNotes, OneNodeNeedsNoWordAboutWhatSeveralAgreeOn) {
  EXPECT_THAT(load({{"process.roles", "broker,controller"},
                    {"controller.quorum.bootstrap.servers", "localhost:9093"},
                    {"inter.broker.listener.name", "PLAINTEXT"},
                    {"num.io.threads", "16"},
                    {"replica.lag.time.max.ms", "10000"},
                    {"share.coordinator.state.topic.replication.factor", "1"}})
                  .warnings,
              IsEmpty());
  EXPECT_THAT(load({{"offsets.topic.replication.factor", "3"}}).warnings,
              ElementsAre(HasSubstr("offsets.topic.replication.factor")))
      << "three were wanted";
}

TEST(ConfigNotes, WhoseControllersAreElsewhereHearsThatTheyAreNotAsked) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"process.roles", "broker"},
      {"controller.quorum.voters", "1@a:9093,2@b:9093"},
      {"controller.quorum.bootstrap.servers", "a:9093,b:9093"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(load({row}).warnings, ElementsAre(HasSubstr("joins no cluster"))) << row.first;
  }
}

TEST(ConfigNotes, ReplicasThatOneNodeCannotGiveAreToldAtStart) {
  EXPECT_THAT(load({{"default.replication.factor", "3"}}).warnings,
              ElementsAre(AllOf(HasSubstr("default.replication.factor is 3"), HasSubstr("set it to 1"))));
  EXPECT_THAT(load({{"default.replication.factor", "1"}}).warnings, IsEmpty());
}

TEST(ConfigNotes, NamesThatKafkaHadOnceSayWhatIsInTheirPlace) {
  EXPECT_THAT(load({{"zookeeper.connect", "z:2181"}, {"zookeeper.session.timeout.ms", "1"}}).warnings,
              ElementsAre(AllOf(HasSubstr("zookeeper.connect"), HasSubstr("its own controller"))));
  EXPECT_THAT(load({{"port", "9092"}}).warnings, ElementsAre(HasSubstr("set listeners")));
  EXPECT_THAT(load({{"advertised.host.name", "h"}}).warnings, ElementsAre(HasSubstr("set advertised.listeners")));
  EXPECT_THAT(load({{"inter.broker.protocol.version", "3.9"}}).warnings, ElementsAre(HasSubstr("since version 4")));
}

TEST(ConfigNotes, UnknownNamesAreOneLineAndAHintOnlyWhereANameIsNear) {
  EXPECT_THAT(load({{"acks", "all"}, {"jmx.hostname", "h"}, {"enable.auto.commit", "false"}}).warnings,
              ElementsAre("unknown configuration keys, ignored: acks, jmx.hostname, enable.auto.commit"));
  EXPECT_THAT(load({{"num.partition", "3"}, {"acks", "all"}}).warnings,
              ElementsAre("unknown configuration key num.partition; did you mean num.partitions?",
                          "unknown configuration key, ignored: acks"));
}

TEST(ConfigNotes, AFileThatIsNoConfigurationIsToldInAFewWords) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (int i = 0; i < 5'000; ++i) {
    settings.emplace_back(std::string(500, 'x') + std::to_string(i), "");
  }
  const auto warnings = load(std::move(settings)).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings.front(), HasSubstr("and 4960 more"));
  EXPECT_LT(warnings.front().size(), 6'000U);
}

}  // namespace
}  // namespace weir
