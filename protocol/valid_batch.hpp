// ValidBatch: one record batch that a log may take: all of its bytes were looked at, and there is nothing beside it.
// Only three functions make one: validate_batch() (what a client sent), RecordBatchBuilder::build_valid() (records of
// our own) and check_replica_batch() (a batch of the leader's log). A log appends nothing else, so that what was
// checked and what is stored are the same bytes.
//
// A value: copies share the bytes, which nobody changes as long as one lives. Any thread.
#pragma once

#include <variant>

#include "base/bytes.hpp"
#include "protocol/record_batch.hpp"

namespace weir::protocol {

class ValidBatch;
struct BatchRefusal;
struct BatchOverBudget {};  // ask again where time is no matter, without a budget
using BatchVerdict = std::variant<ValidBatch, BatchRefusal, BatchOverBudget>;
struct BatchRules;
struct BatchContext;

class ValidBatch {
 public:
  ValidBatch() = default;  // none: empty(), and no log takes it

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] Bytes view() const { return bytes_.view(); }
  [[nodiscard]] const BatchFacts& facts() const { return facts_; }  // of view()

 private:
  friend class RecordBatchBuilder;
  friend BatchVerdict validate_batch(const SharedBytes& records, const BatchRules& rules, const BatchContext& context);
  friend Result<ValidBatch> check_replica_batch(SharedBytes bytes);
  explicit ValidBatch(SharedBytes bytes);  // a batch that fills them, or the process ends

  SharedBytes bytes_;
  BatchFacts facts_;
};

// What a follower has got from its leader, who has validated it: RecordBatchView::parse_whole() must take it. Offsets
// and leader epoch stay.
Result<ValidBatch> check_replica_batch(SharedBytes bytes);

}  // namespace weir::protocol
