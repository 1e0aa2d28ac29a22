#include "coordinator/metadata/kept_records.hpp"

#include <algorithm>
#include <vector>

#include "protocol/gen/access_control_entry_record.hpp"
#include "protocol/gen/client_quota_record.hpp"
#include "protocol/gen/delegation_token_record.hpp"
#include "protocol/gen/no_op_record.hpp"
#include "protocol/gen/register_controller_record.hpp"
#include "protocol/gen/remove_access_control_entry_record.hpp"
#include "protocol/gen/remove_delegation_token_record.hpp"
#include "protocol/gen/remove_user_scram_credential_record.hpp"
#include "protocol/gen/unregister_controller_record.hpp"
#include "protocol/gen/user_scram_credential_record.hpp"
#include "protocol/gen/zk_migration_state_record.hpp"

namespace weir::metadata {
namespace {

// Parts of a key, each with its length before it, so that no two things share a key.
std::string joined(std::string_view kind, std::initializer_list<std::string_view> parts) {
  std::string key{kind};
  for (const auto part : parts) {
    key += '/' + std::to_string(part.size()) + ':';
    key += part;
  }
  return key;
}

template <class M>
Result<KeptRecord> credential(const RecordFrame& frame, bool erase) {
  WEIR_TRY(const auto record, decode_record<M>(frame));
  return KeptRecord{joined("scram", {std::to_string(record.mechanism), record.name.view()}), erase};
}
template <class M>
Result<KeptRecord> acl(const RecordFrame& frame, bool erase) {
  WEIR_TRY(const auto record, decode_record<M>(frame));
  return KeptRecord{joined("acl", {to_string(record.id)}), erase};
}
template <class M>
Result<KeptRecord> token(const RecordFrame& frame, bool erase) {
  WEIR_TRY(const auto record, decode_record<M>(frame));
  return KeptRecord{joined("token", {record.token_id.view()}), erase};
}
template <class M>
Result<KeptRecord> registered_controller(const RecordFrame& frame, bool erase) {
  WEIR_TRY(const auto record, decode_record<M>(frame));
  return KeptRecord{joined("controller", {std::to_string(record.controller_id)}), erase};
}

Result<KeptRecord> quota(const RecordFrame& frame) {
  WEIR_TRY(const auto record, decode_record<protocol::ClientQuotaRecord>(frame));
  std::vector<std::string> entities;
  for (const auto& entity : record.entity) {
    // A null name means the default of the type, which is not the entity named "".
    entities.push_back(entity.entity_name ? joined("named", {entity.entity_type.view(), entity.entity_name->view()})
                                          : joined("default", {entity.entity_type.view()}));
  }
  std::sort(entities.begin(), entities.end());
  auto key = joined("quota", {record.key.view()});
  for (const auto& entity : entities) {
    key += '/' + entity;
  }
  return KeptRecord{std::move(key), record.remove};
}

}  // namespace

Result<KeptRecord> classify_kept(const RecordFrame& frame) {
  using namespace protocol;
  switch (frame.kind) {
    case UserScramCredentialRecord::kApiKey: return credential<UserScramCredentialRecord>(frame, false);
    case RemoveUserScramCredentialRecord::kApiKey: return credential<RemoveUserScramCredentialRecord>(frame, true);
    case AccessControlEntryRecord::kApiKey: return acl<AccessControlEntryRecord>(frame, false);
    case RemoveAccessControlEntryRecord::kApiKey: return acl<RemoveAccessControlEntryRecord>(frame, true);
    case DelegationTokenRecord::kApiKey: return token<DelegationTokenRecord>(frame, false);
    case RemoveDelegationTokenRecord::kApiKey: return token<RemoveDelegationTokenRecord>(frame, true);
    case RegisterControllerRecord::kApiKey: return registered_controller<RegisterControllerRecord>(frame, false);
    case UnregisterControllerRecord::kApiKey: return registered_controller<UnregisterControllerRecord>(frame, true);
    case ClientQuotaRecord::kApiKey: return quota(frame);
    case ZkMigrationStateRecord::kApiKey: {
      WEIR_TRY_VOID(decode_record<ZkMigrationStateRecord>(frame));
      return KeptRecord{"zk_migration_state", false};
    }
    case NoOpRecord::kApiKey: {
      WEIR_TRY_VOID(decode_record<NoOpRecord>(frame));
      return KeptRecord{};
    }
    default: return Error{Errc::unsupported, frame.kind};
  }
}

}  // namespace weir::metadata
