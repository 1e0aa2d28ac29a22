// Each row of the tables was asked of a Kafka 4.4 node: what it takes and what it refuses. Where we differ, the row
// says why.
#include "base/listeners.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

namespace weir {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kDefaultMap = "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT";

Listeners read(std::string_view listeners, std::optional<std::string_view> advertised = {},
               std::string_view protocols = kDefaultMap) {
  return read_listeners(
      {.listeners = listeners, .advertised = advertised, .protocols = protocols, .controllers = "CONTROLLER"});
}

TEST(Listeners, EachListenerHasItsOwnAdvertisedAddress) {
  const auto read_two = read("INTERNAL://127.0.0.1:19092,EXTERNAL://127.0.0.1:9092,CONTROLLER://:9093",
                             "EXTERNAL://localhost:9092,INTERNAL://broker:19092",
                             "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT");
  EXPECT_THAT(read_two.errors, IsEmpty());
  EXPECT_THAT(read_two.warnings, ElementsAre(HasSubstr("CONTROLLER")));
  EXPECT_THAT(read_two.bound,
              ElementsAre(ConfiguredListener{"INTERNAL", {"127.0.0.1", 19092}, Endpoint{"broker", 19092}},
                          ConfiguredListener{"EXTERNAL", {"127.0.0.1", 9092}, Endpoint{"localhost", 9092}}));
}

TEST(Listeners, AListenerThatIsNotAdvertisedIsTakenWithAWord) {
  const auto one = read("PLAINTEXT://:9092,OTHER://:9094", "PLAINTEXT://h:9092", "OTHER:PLAINTEXT,PLAINTEXT:PLAINTEXT");
  EXPECT_THAT(one.errors, IsEmpty());
  EXPECT_THAT(one.warnings, ElementsAre(HasSubstr("does not name listener OTHER")));
  EXPECT_EQ(one.bound.at(1).advertised, std::nullopt);
}

struct Row {
  std::string_view listeners;
  std::optional<std::string_view> advertised;
  std::string_view protocols;
  std::string_view error;  // a part of the one there must be; empty: it is taken
};

void expect_all(std::span<const Row> rows) {
  for (const auto& row : rows) {
    const auto result = read(row.listeners, row.advertised, row.protocols);
    const auto shown = std::string(row.listeners) + " | " + std::string(row.advertised.value_or("-")) + " | " +
                       std::string(row.protocols);
    if (row.error.empty()) {
      EXPECT_THAT(result.errors, IsEmpty()) << shown;
    } else {
      EXPECT_THAT(result.errors, ElementsAre(HasSubstr(std::string(row.error)))) << shown;
    }
  }
}

TEST(Listeners, NamesAndProtocolsAreReadInCapitalsAndWithoutBlanksAroundThem) {
  const std::vector<Row> rows{
      {"internal://127.0.0.1:9092", {}, "INTERNAL:PLAINTEXT", ""},
      {"INTERNAL://127.0.0.1:9092", {}, "internal:plaintext", ""},
      {" INTERNAL://127.0.0.1:9092 , OTHER://:9094 ", {}, " INTERNAL : PLAINTEXT , OTHER : PLAINTEXT ", ""},
      {"PLAINTEXT://:9092,controller://:9093", {}, kDefaultMap, ""},
      {"PLAINTEXT://:9092", {}, "A:B:PLAINTEXT,PLAINTEXT:PLAINTEXT", ""},
      {"INTERNAL ://127.0.0.1:9092", {}, "INTERNAL:PLAINTEXT", "no protocol"},
      {"PLAINTEXT:// 127.0.0.1:9092", {}, kDefaultMap, "NAME://HOST:PORT"},
      {"PLAINTEXT://127.0.0.1 :9092", {}, kDefaultMap, "NAME://HOST:PORT"},
      {"PLAINTEXT://127.0.0.1: 9092", {}, kDefaultMap, "NAME://HOST:PORT"},
  };
  expect_all(rows);
  EXPECT_EQ(read("internal://:1", {}, "internal:plaintext").bound.at(0).name, "INTERNAL");
}

TEST(Listeners, WhatKafkaRefusesInListenersIsRefused) {
  const std::vector<Row> rows{
      {"", {}, kDefaultMap, "must not be empty"},
      {"PLAINTEXT://:9092,,CONTROLLER://:9093", {}, kDefaultMap, "empty entry"},
      {"PLAINTEXT://:9092,", {}, kDefaultMap, "comma at the end"},
      {"PLAINTEXT://:9092,PLAINTEXT://:9094", {}, kDefaultMap, "PLAINTEXT twice"},
      {"PLAINTEXT://:9092,plaintext://:9094", {}, kDefaultMap, "PLAINTEXT twice"},
      {"PLAINTEXT://:9092,O://:9092", {}, "O:PLAINTEXT,PLAINTEXT:PLAINTEXT", "same port 9092"},
      {"PLAINTEXT://127.0.0.1:9092,O://127.0.0.2:9092", {}, "O:PLAINTEXT,PLAINTEXT:PLAINTEXT", "same port 9092"},
      {"PLAINTEXT://127.0.0.1:9092,O://[::1]:9092", {}, "O:PLAINTEXT,PLAINTEXT:PLAINTEXT", ""},
      {"PLAINTEXT://127.0.0.1:0,O://127.0.0.1:0", {}, "O:PLAINTEXT,PLAINTEXT:PLAINTEXT", ""},
      {"OTHER://:9092", {}, kDefaultMap, "OTHER:PLAINTEXT into listener.security.protocol.map"},
      {"PLAINTEXT://:9092", {}, "PLAINTEXT:FOO", "FOO is no security protocol"},
      {"PLAINTEXT://:9092", {}, "PLAINTEXT", "no pair NAME:PROTOCOL"},
      {"CONTROLLER://:9093", {}, kDefaultMap, "no address that clients can use"},  // Kafka: a node with no broker
      {"PLAINTEXT://::1:9092", {}, kDefaultMap, "NAME://HOST:PORT"},  // Kafka guesses where the port begins
      {"PLAINTEXT://:9092", {}, "CONTROLLER:PLAINTEXT", ""},          // Kafka refuses; --listen must work with any map
  };
  expect_all(rows);
}

TEST(Listeners, OnlyPlaintextIsServed) {
  const std::vector<Row> rows{
      {"SSL://:9093", {}, kDefaultMap, "protocol SSL is not served yet"},
      {"PLAINTEXT://:9092", {}, "PLAINTEXT:PLAINTEXT,PLAINTEXT:SSL", "protocol SSL is not served yet"},
      {"IN://:9092,OUT://:9093", {}, "IN:PLAINTEXT,OUT:sasl_ssl", "protocol SASL_SSL is not served yet"},
      {"IN://:9092,OUT://:9093", "OUT://h:1,IN://g:1", "IN:PLAINTEXT,OUT:SSL", "protocol SSL is not served yet"},
  };
  expect_all(rows);
}

TEST(Listeners, WhatKafkaRefusesInAdvertisedListenersIsRefused) {
  constexpr std::string_view kTwo = "PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT";
  const std::vector<Row> rows{
      {"PLAINTEXT://:9092", "PLAINTEXT://:9092", kTwo, ""},
      {"PLAINTEXT://:9092", "PLAINTEXT://h:0", kTwo, ""},
      {"PLAINTEXT://:9092", "PLAINTEXT://h_x:9092", kTwo, ""},
      {"PLAINTEXT://:9092", "PLAINTEXT://[fe80::1%eth0]:9092", kTwo, ""},
      {"PLAINTEXT://:9092", "CONTROLLER://h:9093,PLAINTEXT://h:9092", kTwo, ""},
      {"PLAINTEXT://:9092,OTHER://:9094", "OTHER://h:1,PLAINTEXT://h:1", kTwo, ""},  // behind one gateway
      {"PLAINTEXT://:9092", "PLAINTEXT://h:9092,", kTwo, "comma at the end"},
      {"PLAINTEXT://:9092", ",PLAINTEXT://h:9092", kTwo, "empty entry"},
      {"PLAINTEXT://:9092", "", kTwo, "advertised.listeners: must not be empty"},
      {"PLAINTEXT://:9092", "PLAINTEXT://h:9092,plaintext://g:9093", kTwo, "PLAINTEXT twice"},
      {"PLAINTEXT://:9092", "PLAINTEXT://0.0.0.0:9092", kTwo, "cannot connect to 0.0.0.0:9092"},
      {"PLAINTEXT://:9092", "OTHER://h:9092,PLAINTEXT://h:9092", kTwo, "OTHER is no listener"},
      {"PLAINTEXT://:9092", "OTHER://h:9092", kTwo, "which names PLAINTEXT"},
      {"PLAINTEXT://:9092", "PLAINTEXT://h", kTwo, "NAME://HOST:PORT"},
      {"PLAINTEXT://:9092", "h:9092", kTwo, "NAME://HOST:PORT"},
      {"PLAINTEXT://:9092", "PLAINTEXT://h x:9092", kTwo, "NAME://HOST:PORT"},
      {"PLAINTEXT://:9092", "PLAINTEXT://h:9092/", kTwo, "NAME://HOST:PORT"},
      {"PLAINTEXT://:9092", "CONTROLLER://h:9093", kTwo, "no address that clients can use"},
      {"PLAINTEXT://:9092", "PLAINTEXT://[::]:9092", kTwo, "cannot connect to"},  // Kafka tells it to clients
      {"PLAINTEXT://:9092", "PLAINTEXT://h:99999", kTwo, "NAME://HOST:PORT"},     // the same
      {"PLAINTEXT://:9092", "PLAINTEXT://h:-1", kTwo, "NAME://HOST:PORT"},        // the same
  };
  expect_all(rows);
}

}  // namespace
}  // namespace weir
