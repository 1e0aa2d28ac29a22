// Runs the tests and tells each verdict in the line protocol of harness/program.py, so that one runner reads all
// clients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace {

class TestLines : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.failed()) {
      faults_ += std::string(part.summary()) + " | ";
    }
  }

  void OnTestEnd(const testing::TestInfo& info) override {
    std::replace(faults_.begin(), faults_.end(), '\n', ' ');
    const double seconds = static_cast<double>(info.result()->elapsed_time()) / 1000;
    std::printf("TEST %s.%s %s %.1f %s\n", info.test_suite_name(), info.name(),
                info.result()->Passed() ? "PASS" : "FAIL", seconds, faults_.c_str());
    std::fflush(stdout);
    faults_.clear();
  }

  std::string faults_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new TestLines);  // GoogleTest owns it
  return RUN_ALL_TESTS();
}
