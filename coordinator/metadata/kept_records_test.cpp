// Records that only a later build reads: each is kept until a record of the same thing takes its place or removes it.
#include "coordinator/metadata/kept_records.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "coordinator/metadata/image_builder.hpp"
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

using namespace protocol;

class KeptRecordsTest : public testing::Test {
 protected:
  template <class... Records>
  void apply(const Records&... records) {
    RecordList list;
    (list.add(records, 0), ...);
    ImageBuilder builder{*image_};
    ASSERT_TRUE(builder.apply_all(image_->end_offset(), list));
    image_ = builder.build();
  }
  [[nodiscard]] std::size_t count() const { return records_of(*image_).size(); }
  ImagePointer image_ = std::make_shared<const MetadataImage>();
};

ClientQuotaRecord quota(const std::vector<std::pair<std::string, std::optional<std::string>>>& entities,
                        const std::string& key) {
  ClientQuotaRecord record;
  for (const auto& [type, name] : entities) {
    record.entity.push_back(
        {.entity_type = type, .entity_name = name ? std::optional<Text>{*name} : std::nullopt, .unknown_tags = {}});
  }
  record.key = key;
  record.value = 7;
  return record;
}

TEST_F(KeptRecordsTest, ACredentialIsThatOfItsUserAndMechanism) {
  const auto credential = [](const std::string& name, std::int8_t mechanism) {
    UserScramCredentialRecord record;
    record.name = name;
    record.mechanism = mechanism;
    return record;
  };
  apply(credential("a", 1), credential("a", 2), credential("b", 1), credential("a", 1));
  EXPECT_EQ(count(), 3U);
  RemoveUserScramCredentialRecord removed;
  removed.name = std::string{"a"};
  removed.mechanism = 2;
  apply(removed);
  EXPECT_EQ(count(), 2U);
  apply(removed);
  EXPECT_EQ(count(), 2U) << "the others stay";
}

TEST_F(KeptRecordsTest, AnAclATokenAndAControllerAreThoseOfTheirIds) {
  Random random{1};
  AccessControlEntryRecord acl;
  AccessControlEntryRecord other_acl;
  acl.id = random.uuid();
  other_acl.id = random.uuid();
  DelegationTokenRecord token;
  DelegationTokenRecord other_token;
  token.token_id = std::string{"t"};
  other_token.token_id = std::string{"u"};
  RegisterControllerRecord controller;
  RegisterControllerRecord other_controller;
  other_controller.controller_id = 3;
  apply(acl, other_acl, token, other_token, controller, other_controller, acl, token, controller);
  EXPECT_EQ(count(), 6U);
  RemoveAccessControlEntryRecord no_acl;
  no_acl.id = acl.id;
  apply(no_acl);
  EXPECT_EQ(count(), 5U);
  RemoveDelegationTokenRecord no_token;
  no_token.token_id = std::string{"t"};
  apply(no_token);
  EXPECT_EQ(count(), 4U);
  apply(UnregisterControllerRecord{});
  EXPECT_EQ(count(), 3U);
}

TEST_F(KeptRecordsTest, OfAMigrationStateTheNewestIsKeptAndOfANoOpNothing) {
  apply(NoOpRecord{});
  EXPECT_EQ(count(), 0U);
  apply(ZkMigrationStateRecord{}, ZkMigrationStateRecord{});
  EXPECT_EQ(count(), 1U);
}

TEST_F(KeptRecordsTest, QuotasAreKeptApartByTheirEntitiesInAnyOrderAndByTheirKey) {
  using Entities = std::vector<std::pair<std::string, std::optional<std::string>>>;
  const std::vector<Entities> all{{{"user", "a"}},
                                  {{"user", "b"}},
                                  {{"user", "ab"}},
                                  {{"usera", "b"}},
                                  {{"user", ""}},
                                  {{"user", std::nullopt}},
                                  {{"client-id", "a"}},
                                  {{"user", "a"}, {"client-id", "b"}},
                                  {{"user", "b"}, {"client-id", "a"}},
                                  {{"user", "a"}, {"client-id", std::nullopt}}};
  for (const auto& entities : all) {
    apply(quota(entities, "producer_byte_rate"), quota(entities, "consumer_byte_rate"));
  }
  EXPECT_EQ(count(), 2 * all.size());
  apply(quota({{"client-id", "b"}, {"user", "a"}}, "producer_byte_rate"));
  EXPECT_EQ(count(), 2 * all.size()) << "the same pair in another order";
  for (std::size_t number = 0; number < all.size(); ++number) {
    auto removal = quota(all[number], "producer_byte_rate");
    removal.remove = true;
    apply(removal);
    EXPECT_EQ(count(), 2 * all.size() - number - 1);
  }
}

}  // namespace
}  // namespace weir::metadata
