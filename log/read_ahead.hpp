// ReadAhead: tells the system which batches one LogReader::read() is about to want from files that it does not read
// ahead by itself (direct mode, log/segment.hpp). Many are asked for at once, also those that the reader will come back
// for: so who reads behind the image waits for the device now and then, not for each block.
//
// A hint, never more: no batch is read here, no error leaves here, and nothing breaks if the system drops what it has
// read. What must hold: only bytes below the written end are asked for, and only near batches of the reader's own
// partition.
//
// Owner: one LogReader::read(). Blocks as BatchCursor does. One thread.
#pragma once

#include <optional>

#include "log/batch_cursor.hpp"
#include "log/image.hpp"

namespace weir::log {

class ReadAhead {
 public:
  // `read_max`: the most that the reader takes this time, in bytes of batches.
  ReadAhead(const Image& image, std::size_t read_max);

  // The batch at the cursor, which has moved forward only, is about to be read from its file.
  void wants(const BatchCursor& cursor);

 private:
  struct Stretch {
    std::shared_ptr<Segment> segment;
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  void ask();
  [[nodiscard]] bool is_written() const;
  bool add(Stretch& stretch) const;  // false: the next batch lies too far behind it
  bool tell(const Stretch& stretch);

  const Image& image_;
  const std::int64_t window_;         // of own batches that are asked for at once
  std::optional<BatchCursor> ahead_;  // at the first batch that was not asked for
  Offset again_at_{0};                // half of what was asked for lies before it
  bool is_over_ = false;              // no file needs it, or there is nothing more to ask for
};

}  // namespace weir::log
