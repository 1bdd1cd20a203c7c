// A ring whose client does what it likes with the memory.
#include <fcntl.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "tests/testing/status_matchers.h"
#include "transport/ring_client.h"
#include "transport/ring_layout.h"
#include "transport/ring_server.h"
#include "transport/shared_memory.h"

namespace weft::transport {
namespace {

using ::testing::HasSubstr;
using weft::testing::StatusIs;

constexpr uint32_t kCapacity = 4;

class HostileRingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(memory_, SharedMemory::Create("ring", RingBytes(kCapacity)));
    auto* header = new (memory_.data()) RingHeader{};
    header->magic = kRingMagic;
    header->version = kRingVersion;
    header->capacity = kCapacity;
    header->total_bytes = RingBytes(kCapacity);
    header->submit_offset = SubmitOffset();
    header->completion_offset = CompletionOffset(kCapacity);
  }

  absl::StatusOr<std::unique_ptr<RingServer>> Attach() const {
    return RingServer::Attach(UniqueFd(::fcntl(memory_.fd(), F_DUPFD_CLOEXEC, 0)));
  }
  RingHeader& header() const { return *reinterpret_cast<RingHeader*>(memory_.data()); }
  SubmitSlot& slot(uint64_t position) const {
    return reinterpret_cast<SubmitSlot*>(memory_.data() + SubmitOffset())[position % kCapacity];
  }
  CompletionEntry& entry(uint64_t position) const {
    return reinterpret_cast<CompletionEntry*>(memory_.data() +
                                              CompletionOffset(kCapacity))[position % kCapacity];
  }
  void Submit(uint64_t position, uint64_t graph, uint32_t flags = 0) const {
    slot(position).graph_id.store(graph);
    slot(position).flags.store(flags);
    slot(position).sequence.store(position + 1);
  }

  SharedMemory memory_;
};

TEST_F(HostileRingTest, EveryFieldOfTheHeaderIsChecked) {
  ASSERT_OK(Attach());
  const auto refuses = [this](const char* field) {
    EXPECT_THAT(Attach(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(field)));
    SetUp();
  };
  header().magic ^= 1;
  refuses("magic");
  header().version = 2;
  refuses("version");
  for (const uint32_t capacity : {0u, 3u, kMaxRingCapacity, 1u << 31, ~0u}) {
    header().capacity = capacity;
    EXPECT_THAT(Attach(), StatusIs(absl::StatusCode::kInvalidArgument)) << capacity;
  }
  SetUp();
  header().total_bytes = ~uint64_t{0};
  refuses("total_bytes");
  header().submit_offset = 0;
  refuses("submit_offset");
  header().completion_offset += 64;
  refuses("completion_offset");
}

TEST_F(HostileRingTest, AnotherKindOfMemoryIsRefused) {
  ASSERT_OK_AND_ASSIGN(UniqueFd unsealed,
                       UniqueFd::Memfd("x", RingBytes(kCapacity), UniqueFd::Seal::kNone));
  EXPECT_FALSE(RingServer::Attach(std::move(unsealed)).ok());
  ASSERT_OK_AND_ASSIGN(UniqueFd tiny, UniqueFd::Memfd("x", 64, UniqueFd::Seal::kSealSize));
  EXPECT_FALSE(RingServer::Attach(std::move(tiny)).ok());
  EXPECT_FALSE(RingServer::Attach(UniqueFd()).ok());
}

TEST_F(HostileRingTest, HeaderIsNotReadAgainAfterAttach) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RingServer> server, Attach());
  header().capacity = 1u << 30;
  header().submit_offset = ~uint64_t{0};
  header().completion_offset = ~uint64_t{0};
  for (uint64_t i = 0; i < 3 * kCapacity; ++i) {
    Submit(i, /*graph=*/i);
    ASSERT_EQ(server->Take()->graph, GraphId(i));
    server->Complete(i + 1, absl::StatusCode::kOk);
    EXPECT_EQ(entry(i).stamp.load(), i + 1);
  }
}

TEST_F(HostileRingTest, UnknownFlagsAreRefusedAndTheNextIsServed) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RingServer> server, Attach());
  Submit(0, 1, /*flags=*/1u << 31);
  Submit(1, 2);
  const std::optional<Submission> taken = server->Take();
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->graph, GraphId(2));
  EXPECT_EQ(server->refused(), 1u);
  EXPECT_EQ(entry(0).sequence.load(), 1u);
  EXPECT_EQ(entry(0).code.load(), static_cast<uint32_t>(absl::StatusCode::kInvalidArgument));
}

TEST_F(HostileRingTest, AWrongSequenceIsNoSubmission) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RingServer> server, Attach());
  for (const uint64_t sequence : {uint64_t{2}, uint64_t{kCapacity + 1}, ~uint64_t{0}}) {
    slot(0).sequence.store(sequence);
    EXPECT_FALSE(server->HasSubmission());
    EXPECT_FALSE(server->Take().has_value());
  }
}

TEST_F(HostileRingTest, LaunchesInFlightAreBounded) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RingServer> server, Attach());
  for (uint64_t i = 0; i < kCapacity; ++i) {
    Submit(i, i);
    ASSERT_TRUE(server->Take().has_value());
  }
  Submit(kCapacity, 1);
  EXPECT_FALSE(server->HasSubmission());
  EXPECT_FALSE(server->Take().has_value());
  server->Complete(1, absl::StatusCode::kOk);
  EXPECT_TRUE(server->Take().has_value());
}

// Random bytes everywhere, at any time, under a server that works: under a sanitizer every access
// outside of the ring would show.
TEST_F(HostileRingTest, ScribblingMovesNoAccess) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RingServer> server, Attach());
  std::mt19937_64 random(1);
  std::set<uint64_t> in_flight;
  for (int round = 0; round < 20000; ++round) {
    const uint64_t offset = random() % (memory_.size() / 8) * 8;
    // Small values hit sequences that the server waits for.
    const uint64_t value = random() % 2 == 0 ? random() : random() % 10000;
    std::memcpy(memory_.data() + offset, &value, sizeof value);
    if (round % 2 == 0) Submit(random() % kCapacity, value, static_cast<uint32_t>(value % 2));
    if (const std::optional<Submission> taken = server->Take()) {
      EXPECT_TRUE(in_flight.insert(taken->sequence).second) << "handed out twice";
    }
    EXPECT_LE(server->in_flight(), kCapacity);
    if (!in_flight.empty() && random() % 3 == 0) {
      server->Complete(*in_flight.begin(), absl::StatusCode::kOk);
      in_flight.erase(in_flight.begin());
    }
  }
}

TEST_F(HostileRingTest, AStuckDoorbellOnlyDelaysASleeper) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RingServer> server, Attach());
  server->doorbell().Arm();
  header().server_doorbell.store(0xdead);
  server->doorbell().Sleep(absl::InfiniteDuration());  // does not sleep: the word is not 1
  server->doorbell().Arm();
  server->doorbell().Sleep(absl::Milliseconds(1));  // nobody rings
}

// The other direction: a broken server cannot make a client believe in launches it never made.
TEST(BrokenServerTest, ImpossibleCompletionsAreDropped) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RingClient> client,
                       RingClient::Create({.capacity = kCapacity}));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RingServer> server,
                       RingServer::Attach(UniqueFd(::fcntl(client->fd(), F_DUPFD_CLOEXEC, 0))));
  ASSERT_OK(client->Submit(GraphId(1)));
  server->Complete(0, absl::StatusCode::kOk);
  server->Complete(99, absl::StatusCode::kOk);
  server->Complete(1, static_cast<absl::StatusCode>(4711));
  const std::optional<Completion> completion = client->Poll();
  ASSERT_TRUE(completion.has_value());
  EXPECT_EQ(completion->sequence, 1u);
  EXPECT_EQ(completion->code, absl::StatusCode::kUnknown);
  EXPECT_EQ(client->impossible_completions(), 2u);
}

}  // namespace
}  // namespace weft::transport
