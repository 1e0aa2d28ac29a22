// What happens when memory runs out: the process ends, with one line on stderr and the exit code kOutOfMemoryExit,
// before anything goes on half done. What was acknowledged is on disk; the next start recovers as after a kill -9.
//
// Only where the bytes of one request are made (its frame, its decoded form, its decompressed batch) does a failed
// allocation cost that request alone: MayRunOutOfMemory marks these places, and who uses it changes nothing that others
// see. Any thread. A program that does not call end_when_out_of_memory() (tests) gets std::bad_alloc everywhere.
#pragma once

namespace weir {

inline constexpr int kOutOfMemoryExit = 3;

// For main(), before all else. Also gives std::terminate words: a thread that cannot be started, and an exception that
// nobody foresaw, which ends in abort() as a failed WEIR_CHECK does.
void end_when_out_of_memory();

// For those who allocate without operator new and got nothing.
[[noreturn]] void memory_ran_out();

// While one exists, an allocation of its thread that fails throws std::bad_alloc.
class MayRunOutOfMemory {
 public:
  MayRunOutOfMemory();
  ~MayRunOutOfMemory();
  MayRunOutOfMemory(const MayRunOutOfMemory&) = delete;
  MayRunOutOfMemory& operator=(const MayRunOutOfMemory&) = delete;
};

}  // namespace weir
