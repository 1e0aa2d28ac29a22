#include "base/logging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(Logging, LinesBelowTheLevelAreNotEvenMade) {
  const LogCapture capture;
  int made = 0;
  const auto argument = [&] { return ++made; };
  WEIR_LOG(debug, "number {}", argument());
  WEIR_LOG(info, "number {}", argument());
  EXPECT_TRUE(set_log_level("debug"));
  WEIR_LOG(debug, "number {}", argument());
  EXPECT_FALSE(set_log_level("loud"));
  set_log_level(LogLevel::info);
  EXPECT_THAT(capture.lines(), testing::ElementsAre("INFO  number 1", "DEBUG number 2"));
}

TEST(Logging, WhatWouldSteerATerminalIsWrittenOut) {
  EXPECT_EQ(printable("a\x1b[31mb\r\n\t\x7f"), "a\\x1b[31mb\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\x9b31m")
      << "the same in one character";
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f \xc2\xa7"), "gr\xc3\xbc\xc3\x9f \xc2\xa7");
  const LogCapture capture;
  WEIR_LOG(info, "unknown key {}", "x\ny");
  EXPECT_THAT(capture.lines(), testing::ElementsAre("INFO  unknown key x\\x0ay"));
}

TEST(Logging, ALineOnStderrHasTimeLevelAndText) {
  testing::internal::CaptureStderr();
  WEIR_LOG(warn, "disk of {} is {} % full", "/data", 95);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3} WARN  disk of "
                                    "/data is 95 % full\n"));
}

}  // namespace
}  // namespace weir
