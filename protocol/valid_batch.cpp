#include "protocol/valid_batch.hpp"

namespace weir::protocol {

ValidBatch::ValidBatch(SharedBytes bytes) : bytes_(std::move(bytes)) {
  const auto batch = RecordBatchView::parse(bytes_.view());
  WEIR_CHECK(batch.has_value() && batch->size() == bytes_.size());
  facts_ = batch->facts();
}

Result<ValidBatch> check_replica_batch(SharedBytes bytes) {
  WEIR_TRY_VOID(RecordBatchView::parse_whole(bytes.view()));
  return ValidBatch{std::move(bytes)};
}

}  // namespace weir::protocol
