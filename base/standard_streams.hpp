// The three descriptors that a process begins with. Main thread, before anything is opened.
#pragma once

namespace weir {

// One of them may be closed: the next file or socket would get its number, and what is printed would go there. Such a
// one is taken by a descriptor that refuses what it is for.
void keep_standard_streams_apart();

}  // namespace weir
