#include "tools/loadgen/channel.hpp"

namespace weir::loadgen {

void Channel::send(BufferChain frame) {
  unsent_.append(std::move(frame));
  write_next();
}

void Channel::write_next() {
  if (writing_ || closed_ || unsent_.empty()) {
    return;
  }
  writing_ = true;
  stream_->write(std::exchange(unsent_, {}), [self = shared_from_this()](const Result<void>& written) {
    self->writing_ = false;
    if (!written) {
      return self->end();
    }
    self->write_next();
  });
}

void Channel::read_more() {
  if (reader_.large_frame_bytes() > 0) {
    reader_.grant();
  }
  stream_->read_some(reader_.prepare(), [self = shared_from_this()](const Result<std::size_t>& count) {
    if (self->closed_) {
      return;
    }
    if (!count) {
      return self->end();
    }
    self->reader_.received(*count);
    while (!self->closed_) {
      const auto frame = self->reader_.next();
      if (!frame || !*frame) {
        break;
      }
      self->on_frame_(**frame);
    }
    if (!self->closed_) {
      self->read_more();
    }
  });
}

void Channel::end() {
  if (!closed_) {
    close();
    on_end_();
  }
}

void Channel::close() {
  closed_ = true;
  stream_->close();
}

}  // namespace weir::loadgen
