#include "broker/start_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace weir::broker {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string said(const Endpoint& at, const Error& error, const std::vector<Endpoint>& ours = {}) {
  return cannot_listen("listeners", at, error, ours, "--listen HOST:PORT");
}

TEST(StartProblem, SaysInWordsWhyAnAddressCannotBeListenedOn) {
  EXPECT_THAT(said({"127.0.0.1", 80}, {Errc::invalid_argument, EACCES}),
              AllOf(HasSubstr("127.0.0.1:80"), HasSubstr("permission denied"), HasSubstr("below 1024")));
  EXPECT_THAT(said({"127.0.0.1", 8080}, {Errc::invalid_argument, EACCES}),
              AllOf(HasSubstr("permission denied"), Not(HasSubstr("1024"))));
  EXPECT_THAT(said({"10.255.255.1", 9092}, {Errc::invalid_argument, EADDRNOTAVAIL}),
              AllOf(HasSubstr("no interface of this machine"), HasSubstr("advertised.listeners")));
  EXPECT_THAT(said({"nowhere.invalid", 9092}, {Errc::not_found, -2}),
              HasSubstr("nobody knows the host nowhere.invalid"));
  EXPECT_THAT(said({"::1", 9092}, {Errc::invalid_argument, EAFNOSUPPORT}), Not(HasSubstr("invalid argument (")));
}

TEST(StartProblem, APortOfThisBrokerIsToldFromThatOfAnotherProcess) {
  EXPECT_THAT(said({"127.0.0.1", 9092}, {Errc::in_use, 9092}), HasSubstr("taken by another process"));
  EXPECT_THAT(said({"127.0.0.1", 9092}, {Errc::in_use, 9092}, {{"127.0.0.1", 9644}}), HasSubstr("another process"));
  EXPECT_THAT(said({"", 9092}, {Errc::in_use, 9092}, {{"127.0.0.1", 9092}}),
              AllOf(HasSubstr("of this broker already"), HasSubstr("--listen HOST:PORT")));
}

}  // namespace
}  // namespace weir::broker
