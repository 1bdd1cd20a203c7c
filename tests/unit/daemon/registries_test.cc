// SessionRegistry and BufferRegistry.
#include "server/daemon/buffer_registry.h"
#include "server/daemon/session_registry.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/daemon/callers.h"

namespace weft::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using weft::testing::StatusIs;

TEST(SessionRegistryTest, ACallIsKnownByItsDescriptor) {
  SessionRegistry sessions(8);
  ASSERT_OK_AND_ASSIGN(const SessionId session, sessions.Open(7, {.uid = 5, .gid = 6, .pid = 9}));
  ASSERT_OK_AND_ASSIGN(const Caller caller, sessions.Find("fd:7"));
  EXPECT_EQ(caller.uid, 5u);
  EXPECT_EQ(caller.session, session);
}

TEST(SessionRegistryTest, APeerThatIsNoDescriptorIsUnauthenticated) {
  SessionRegistry sessions(8);
  EXPECT_THAT(sessions.Find("ipv4:1.2.3.4:5"), StatusIs(absl::StatusCode::kUnauthenticated));
  EXPECT_THAT(sessions.Find("fd:x"), StatusIs(absl::StatusCode::kUnauthenticated));
}

TEST(SessionRegistryTest, TheCallsOfAnEndedSessionAreCancelled) {
  SessionRegistry sessions(8);
  ASSERT_OK_AND_ASSIGN(const SessionId session, sessions.Open(7, {}));
  sessions.End(session);
  EXPECT_THAT(sessions.Find("fd:7"), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(sessions.IsOpen(session));
}

TEST(SessionRegistryTest, ANumberUsedAgainBelongsToTheNewConnection) {
  SessionRegistry sessions(8);
  ASSERT_OK_AND_ASSIGN(const SessionId old_session, sessions.Open(7, {.uid = 1}));
  ASSERT_OK_AND_ASSIGN(const SessionId new_session, sessions.Open(7, {.uid = 2}));
  EXPECT_FALSE(sessions.IsOpen(old_session));
  sessions.End(old_session);  // told late
  ASSERT_OK_AND_ASSIGN(const Caller caller, sessions.Find("fd:7"));
  EXPECT_EQ(caller.session, new_session);
  EXPECT_EQ(caller.uid, 2u);
}

TEST(SessionRegistryTest, ConnectionsOverTheLimitAreRefused) {
  SessionRegistry sessions(1);
  ASSERT_OK_AND_ASSIGN(const SessionId session, sessions.Open(7, {}));
  EXPECT_THAT(sessions.Open(8, {}), StatusIs(absl::StatusCode::kResourceExhausted));
  sessions.End(session);
  EXPECT_OK(sessions.Open(8, {}));
}

class BufferRegistryTest : public ::testing::Test {
 protected:
  BufferRegistryTest() { registry_.SetDevice(0, 100'000, 4096); }

  static BufferSpec Spec(std::string name, uint64_t size = 100) {
    return {.name = std::move(name),
            .dtype = kernels::DType::kU8,
            .shape = {size},
            .size_bytes = size,
            .device = 0};
  }
  BufferId Make(const Caller& caller, const std::string& name, uint64_t size = 100) {
    const BufferId id = *registry_.Reserve(caller, Spec(name, size));
    DeviceMemory memory;
    memory.address = 0x1000 * id.value();
    memory.allocated_bytes = (size + 4095) / 4096 * 4096;
    memory.fd = *UniqueFd::Memfd("m", memory.allocated_bytes, UniqueFd::Seal::kSealSize);
    EXPECT_OK(registry_.Commit(id, std::move(memory), registry_.Epoch(0)));
    return id;
  }

  BufferRegistry registry_{{.max_buffers = 4, .max_device_bytes = 0}};
};

TEST_F(BufferRegistryTest, ABufferIsFoundByNameAndById) {
  const BufferId id = Make(kAlice, "a");
  ASSERT_OK_AND_ASSIGN(const BufferSnapshot by_name, registry_.Find(kAlice, "a"));
  ASSERT_OK_AND_ASSIGN(const BufferSnapshot by_id, registry_.Find(kAlice, "#1"));
  EXPECT_EQ(by_name.id, id);
  EXPECT_EQ(by_id.spec.name, "a");
}

TEST_F(BufferRegistryTest, AReservedBufferIsNotThereYetButItsNameIsTaken) {
  ASSERT_OK_AND_ASSIGN(const BufferId id, registry_.Reserve(kAlice, Spec("a")));
  EXPECT_THAT(registry_.Find(kAlice, "a"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(registry_.Reserve(kBob, Spec("a")), StatusIs(absl::StatusCode::kAlreadyExists));
  registry_.Abandon(id);
  EXPECT_OK(registry_.Reserve(kBob, Spec("a")));
}

TEST_F(BufferRegistryTest, AnotherUsersBufferIsDeniedButNotToRoot) {
  Make(kAlice, "a");
  EXPECT_THAT(registry_.Find(kBob, "a"), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(registry_.Remove(kBob, "#1"), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_OK(registry_.Find(kRoot, "a"));
}

TEST_F(BufferRegistryTest, ABufferInUseIsNotRemoved) {
  const BufferId id = Make(kAlice, "a");
  ASSERT_OK(registry_.AddUses({id}));
  EXPECT_THAT(registry_.Remove(kAlice, "a"), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(registry_.ReleaseUses({id}), IsEmpty());
  EXPECT_OK(registry_.Remove(kAlice, "a"));
}

TEST_F(BufferRegistryTest, UsesAreAddedToAllBuffersOrNone) {
  const BufferId id = Make(kAlice, "a");
  EXPECT_THAT(registry_.AddUses({id, BufferId(99)}), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(registry_.Find(kAlice, "a")->uses, 0u);
}

TEST_F(BufferRegistryTest, UnnamedBuffersEndWithTheirSessionAndNamedOnesStay) {
  const BufferId unnamed = Make(kAlice, "");
  Make(kAlice, "named");
  const std::vector<RemovedBuffer> removed = registry_.EndSession(kAlice.session);
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0].id, unnamed);
  EXPECT_OK(registry_.Find(kAlice, "named"));
}

TEST_F(BufferRegistryTest, AnUnnamedBufferInUseEndsWithItsLastUse) {
  const BufferId id = Make(kAlice, "");
  ASSERT_OK(registry_.AddUses({id}));
  EXPECT_THAT(registry_.EndSession(kAlice.session), IsEmpty());
  EXPECT_THAT(registry_.Find(kAlice, "#1"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(registry_.ReleaseUses({id}).size(), 1u);
  EXPECT_FALSE(registry_.Contains(id));
}

TEST_F(BufferRegistryTest, TheQuotaCountsWhatTheDeviceAllocates) {
  Make(kAlice, "a", 1);  // 4096 bytes; the quota is 90 % of 100,000
  EXPECT_OK(registry_.Reserve(kAlice, Spec("b", 81'920)));
  EXPECT_THAT(registry_.Reserve(kAlice, Spec("c", 4097)),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("86016 of 90000")));
}

TEST_F(BufferRegistryTest, TheQuotaIsFreeAgainWhenTheMemoryIs) {
  Make(kAlice, "a", 80'000);
  ASSERT_OK_AND_ASSIGN(const RemovedBuffer removed, registry_.Remove(kAlice, "a"));
  EXPECT_THAT(registry_.Reserve(kAlice, Spec("b", 80'000)),
              StatusIs(absl::StatusCode::kResourceExhausted));
  registry_.ReleaseQuota(removed);
  EXPECT_OK(registry_.Reserve(kAlice, Spec("b", 80'000)));
}

TEST_F(BufferRegistryTest, AnImpossibleSizeIsOverTheQuotaAndDoesNotWrap) {
  EXPECT_THAT(registry_.Reserve(kAlice, Spec("a", UINT64_MAX)),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(BufferRegistryTest, BuffersOverTheLimitAreRefused) {
  for (int i = 0; i < 4; ++i) Make(kAlice, "");
  EXPECT_THAT(registry_.Reserve(kAlice, Spec("")),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("max_buffers")));
}

TEST_F(BufferRegistryTest, AnAllocationOfAReplacedExecutorIsDropped) {
  const uint64_t epoch = registry_.Epoch(0);
  ASSERT_OK_AND_ASSIGN(const BufferId id, registry_.Reserve(kAlice, Spec("a")));
  registry_.BeginImport(0);
  EXPECT_THAT(registry_.Commit(id, DeviceMemory(), epoch),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_OK(registry_.Reserve(kAlice, Spec("a")));  // name and quota are free
}

TEST_F(BufferRegistryTest, ANewExecutorGetsTheMemoryOfEveryBufferAtItsAddress) {
  Make(kAlice, "a");
  const BufferId id = Make(kAlice, "b", 5000);
  const std::vector<ImportEntry> entries = registry_.BeginImport(0);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].id, id);
  EXPECT_EQ(entries[1].address, 0x2000u);
  EXPECT_EQ(entries[1].allocated_bytes, 8192u);
  EXPECT_TRUE(entries[1].fd->valid());
}

TEST_F(BufferRegistryTest, PagesListWhatTheCallerMayUse) {
  Make(kAlice, "a");
  Make(kBob, "b");
  Make(kAlice, "c");
  const BufferPage first = registry_.List(kAlice, BufferId(0), 1);
  ASSERT_EQ(first.items.size(), 1u);
  ASSERT_TRUE(first.next.has_value());
  const BufferPage second = registry_.List(kAlice, *first.next, 1);
  ASSERT_EQ(second.items.size(), 1u);
  EXPECT_EQ(second.items[0].spec.name, "c");
  EXPECT_FALSE(second.next.has_value());
}

}  // namespace
}  // namespace weft::daemon
