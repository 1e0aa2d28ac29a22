// Doing: the one operation of a role that is under way, for the operator. One thread at a time makes steps; what() and
// count() are for any thread, and say whether the role is where it was when somebody looked before.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir::log {

class Doing {
 public:
  // From its construction to its end.
  class Step {
   public:
    Step(Doing& doing, const char* what) : doing_(doing) {
      doing_.count_.fetch_add(1, std::memory_order_relaxed);
      doing_.what_.store(what, std::memory_order_relaxed);
    }
    ~Step() { doing_.what_.store("", std::memory_order_relaxed); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Doing& doing_;
  };
  [[nodiscard]] const char* what() const { return what_.load(std::memory_order_relaxed); }  // "": nothing
  [[nodiscard]] std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<const char*> what_{""};
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace weir::log
