// The frame of what a producer sends to one partition: which batch the bytes hold. It is looked at before topic, acks
// and all else, as in Kafka. Pure; any thread.
#pragma once

#include "protocol/batch_validator.hpp"

namespace weir::protocol {

// Magic or length of the first batch are impossible. Kafka then takes the whole request for garbage.
std::optional<BatchRefusal> refuse_garbled(Bytes records);

// The first batch, if there is one in full, is of a transaction.
bool is_transactional(Bytes records);

// Not exactly one batch of this format; else `batch` is that one. A partial one behind it is dropped without a word;
// Kafka trims it likewise.
std::optional<BatchRefusal> refuse_frame(Bytes records, std::int16_t produce_version, Bytes& batch);

}  // namespace weir::protocol
