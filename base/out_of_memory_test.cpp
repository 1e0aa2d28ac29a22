#include "base/out_of_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace weir {
namespace {

using testing::ExitedWithCode;
using testing::KilledBySignal;

void fail_an_allocation() {
  std::get_new_handler()();  // what operator new does; the sanitizers' own one does not
}

void leave_by(const std::exception_ptr& failure) noexcept {
  std::rethrow_exception(failure);
}

TEST(OutOfMemoryDeathTest, AnAllocationThatFailsEndsTheProcessInWords) {
  constexpr auto kWords = "out of memory: the process ends, exit code 3";
  EXPECT_EXIT((end_when_out_of_memory(), fail_an_allocation()), ExitedWithCode(kOutOfMemoryExit), kWords);
  EXPECT_EXIT((end_when_out_of_memory(), memory_ran_out()), ExitedWithCode(kOutOfMemoryExit), kWords);
}

TEST(OutOfMemoryDeathTest, WhereItMayFailItThrowsAndBehindThatItEndsTheProcessAgain) {
  const auto run = [] {
    end_when_out_of_memory();
    try {
      const MayRunOutOfMemory here;
      fail_an_allocation();
    } catch (const std::bad_alloc&) {
      fail_an_allocation();
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(run(), ExitedWithCode(kOutOfMemoryExit), "out of memory");
}

TEST(OutOfMemoryDeathTest, WhatLeavesANoexceptFunctionIsTold) {
  const auto thrown = [](auto failure) {
    end_when_out_of_memory();
    leave_by(std::make_exception_ptr(failure));
  };
  EXPECT_EXIT(thrown(std::bad_alloc{}), ExitedWithCode(kOutOfMemoryExit), "out of memory");
  EXPECT_EXIT(thrown(std::system_error{EAGAIN, std::generic_category()}), ExitedWithCode(kOutOfMemoryExit),
              "a thread cannot be started");
  EXPECT_EXIT(thrown(std::logic_error{"surprise"}), KilledBySignal(SIGABRT), "unhandled exception: surprise");
}

TEST(OutOfMemoryDeathTest, ThreadsThatRunOutTogetherEndTheProcessInOneLine) {
  const auto run = [] {
    end_when_out_of_memory();
    constexpr int kThreads = 8;
    std::barrier all_there{kThreads};
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        all_there.arrive_and_wait();
        fail_an_allocation();
      });
    }
  };
  const auto is_one_line = testing::Truly(
      [](const std::string& said) { return std::ranges::count(said, '\n') == 1 && said.starts_with("weir: out of"); });
  for (int round = 0; round < 20; ++round) {
    EXPECT_EXIT(run(), ExitedWithCode(kOutOfMemoryExit), is_one_line);
  }
}

TEST(OutOfMemory, WithoutTheHandlersItIsAnException) {
  EXPECT_THROW(memory_ran_out(), std::bad_alloc);
}

}  // namespace
}  // namespace weir
