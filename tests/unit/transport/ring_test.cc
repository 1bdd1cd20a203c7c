#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "transport/ring_client.h"
#include "transport/ring_server.h"

namespace weft::transport {
namespace {

using weft::testing::StatusIs;

UniqueFd CopyOf(const RingClient& client) {
  return UniqueFd(::fcntl(client.fd(), F_DUPFD_CLOEXEC, 0));
}

struct Ring {
  std::unique_ptr<RingClient> client;
  std::unique_ptr<RingServer> server;
};

Ring MakeRing(uint32_t capacity, absl::Duration spin = absl::ZeroDuration()) {
  Ring ring;
  ring.client = *RingClient::Create({.capacity = capacity, .spin = spin});
  ring.server = *RingServer::Attach(CopyOf(*ring.client));
  return ring;
}

// Serves until `count` launches were completed; sleeps on the doorbell as the launch loop does. The
// completion's code tells the graph id apart.
void Serve(RingServer& server, uint64_t count) {
  const WaitStrategy wait{absl::Microseconds(5)};
  for (uint64_t done = 0; done < count;) {
    wait.Wait(server.doorbell(), absl::InfiniteDuration(), [&] { return server.HasSubmission(); });
    while (std::optional<Submission> submission = server.Take()) {
      server.Complete(submission->sequence,
                      static_cast<absl::StatusCode>(submission->graph.value() % 16));
      ++done;
    }
  }
}

// Submits as long as there is room, reads what came back.
void Drive(RingClient& client, uint64_t count) {
  uint64_t submitted = 0;
  uint64_t completed = 0;
  while (completed < count) {
    while (submitted < count && client.Submit(GraphId(submitted + 1)).ok()) ++submitted;
    const std::optional<Completion> completion = client.Wait(absl::Seconds(30));
    ASSERT_TRUE(completion.has_value()) << "after " << completed;
    ASSERT_EQ(completion->sequence, completed + 1);
    ASSERT_EQ(completion->code, static_cast<absl::StatusCode>(completion->sequence % 16));
    ++completed;
  }
}

TEST(RingTest, ALaunchGoesThereAndBack) {
  const Ring ring = MakeRing(4);
  EXPECT_EQ(ring.server->Take(), std::nullopt);
  EXPECT_FALSE(ring.client->Poll().has_value());
  ASSERT_OK_AND_ASSIGN(const uint64_t sequence, ring.client->Submit(GraphId(77)));
  EXPECT_EQ(ring.client->in_flight(), 1u);
  EXPECT_TRUE(ring.server->HasSubmission());
  const std::optional<Submission> taken = ring.server->Take();
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->graph, GraphId(77));
  EXPECT_EQ(taken->sequence, sequence);
  ring.server->Complete(taken->sequence, absl::StatusCode::kInternal, kCompletionContextLost);
  const std::optional<Completion> completion = ring.client->Poll();
  ASSERT_TRUE(completion.has_value());
  EXPECT_EQ(completion->sequence, sequence);
  EXPECT_EQ(completion->code, absl::StatusCode::kInternal);
  EXPECT_TRUE(completion->context_lost);
  EXPECT_EQ(ring.client->in_flight(), 0u);
  EXPECT_EQ(ring.server->in_flight(), 0u);
}

TEST(RingTest, LaunchesCompleteInAnyOrder) {
  const Ring ring = MakeRing(4);
  std::vector<uint64_t> taken;
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_OK(ring.client->Submit(GraphId(i)));
    taken.push_back(ring.server->Take()->sequence);
  }
  for (const size_t i : {2, 0, 3, 1}) {
    ring.server->Complete(taken[i], absl::StatusCode::kOk);
    EXPECT_EQ(ring.client->Poll()->sequence, taken[i]);
  }
}

// One launch that does not end must not stop the others, however often they go round the ring.
TEST(RingTest, ALongLaunchBlocksNoOther) {
  const Ring ring = MakeRing(2);
  ASSERT_OK(ring.client->Submit(GraphId(1)));
  const uint64_t longest = ring.server->Take()->sequence;
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_OK(ring.client->Submit(GraphId(2)));
    ring.server->Complete(ring.server->Take()->sequence, absl::StatusCode::kOk);
    ASSERT_TRUE(ring.client->Poll().has_value());
  }
  ring.server->Complete(longest, absl::StatusCode::kOk);
  EXPECT_EQ(ring.client->Poll()->sequence, longest);
}

TEST(RingTest, FullRingRefusesUntilACompletionWasRead) {
  const Ring ring = MakeRing(2);
  ASSERT_OK(ring.client->Submit(GraphId(1)));
  ASSERT_OK(ring.client->Submit(GraphId(1)));
  EXPECT_THAT(ring.client->Submit(GraphId(1)), StatusIs(absl::StatusCode::kResourceExhausted));
  ring.server->Complete(ring.server->Take()->sequence, absl::StatusCode::kOk);
  EXPECT_THAT(ring.client->Submit(GraphId(1)), StatusIs(absl::StatusCode::kResourceExhausted));
  ASSERT_TRUE(ring.client->Poll().has_value());
  EXPECT_OK(ring.client->Submit(GraphId(1)));
}

TEST(RingTest, WaitTimesOutAndInterruptEndsIt) {
  const Ring ring = MakeRing(2);
  EXPECT_FALSE(ring.client->Wait(absl::Milliseconds(2)).has_value());
  ring.client->Interrupt();
  EXPECT_FALSE(ring.client->Wait(absl::InfiniteDuration()).has_value());
  std::thread interrupter([&ring] { ring.client->Interrupt(); });
  EXPECT_FALSE(ring.client->Wait(absl::InfiniteDuration()).has_value());
  interrupter.join();
}

// What a launch says before it ends, to a client that sleeps and to one that does not wait yet.
TEST(RingTest, ANoticeEndsAWaitWithoutACompletion) {
  const Ring ring = MakeRing(2);
  EXPECT_FALSE(ring.client->TakeNotice());
  std::thread server([&ring] { ring.server->notice().Give(); });
  EXPECT_FALSE(ring.client->Wait(absl::InfiniteDuration()).has_value());
  EXPECT_TRUE(ring.client->TakeNotice());
  server.join();
  ring.server->notice().Give();
  ring.server->notice().Give();
  EXPECT_FALSE(ring.client->Wait(absl::InfiniteDuration()).has_value());
  EXPECT_TRUE(ring.client->TakeNotice());
  EXPECT_FALSE(ring.client->TakeNotice());
}

TEST(RingTest, ACompletionIsReadBesideANotice) {
  const Ring ring = MakeRing(2);
  ASSERT_OK(ring.client->Submit(GraphId(1)));
  ring.server->notice().Give();
  ring.server->Complete(ring.server->Take()->sequence, absl::StatusCode::kOk);
  EXPECT_TRUE(ring.client->Wait(absl::InfiniteDuration()).has_value());
  EXPECT_TRUE(ring.client->TakeNotice());
}

// The doorbell alone says nothing: the client looks, and goes back to sleep.
TEST(RingTest, ARingOfTheDoorbellWithoutANoticeIsNoReasonToReturn) {
  const Ring ring = MakeRing(2);
  ASSERT_OK_AND_ASSIGN(const SharedMemory memory,
                       SharedMemory::Map(CopyOf(*ring.client), RingBytes(2)));
  const Doorbell doorbell(&reinterpret_cast<RingHeader*>(memory.data())->client_doorbell);
  std::atomic<bool> returned{false};
  std::thread waiter([&] {
    EXPECT_FALSE(ring.client->Wait(absl::InfiniteDuration()).has_value());
    EXPECT_TRUE(ring.client->TakeNotice());
    returned = true;
  });
  for (int i = 0; i < 1000; ++i) doorbell.Ring();
  EXPECT_FALSE(returned);
  ring.server->notice().Give();
  waiter.join();
}

TEST(RingTest, OtherCapacitiesAreRefused) {
  for (const uint32_t capacity : {0u, 1u, 3u, 2 * kMaxRingCapacity}) {
    EXPECT_THAT(RingClient::Create({.capacity = capacity}),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(RingTest, TwoThreadsExchangeEveryLaunch) {
  constexpr uint64_t kLaunches = 20000;
  const Ring ring = MakeRing(8, absl::Microseconds(5));
  std::thread server([&ring] { Serve(*ring.server, kLaunches); });
  Drive(*ring.client, kLaunches);
  server.join();
}

// Submissions and completions of one client on two threads, as in weftd.
TEST(RingTest, ClientMaySubmitAndReadOnTwoThreads) {
  constexpr uint64_t kLaunches = 5000;
  const Ring ring = MakeRing(8);
  std::thread server([&ring] { Serve(*ring.server, kLaunches); });
  std::thread reader([&ring] {
    for (uint64_t i = 1; i <= kLaunches; ++i) {
      const std::optional<Completion> completion = ring.client->Wait(absl::Seconds(30));
      ASSERT_TRUE(completion.has_value());
      ASSERT_EQ(completion->sequence, i);
    }
  });
  for (uint64_t i = 1; i <= kLaunches;) {
    if (ring.client->Submit(GraphId(i)).ok()) {
      ++i;
    } else {
      std::this_thread::yield();
    }
  }
  reader.join();
  server.join();
  EXPECT_EQ(ring.client->impossible_completions(), 0u);
}

TEST(RingTest, AnotherProcessServes) {
  constexpr uint64_t kLaunches = 5000;
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<RingClient> client,
                       RingClient::Create({.capacity = 8, .spin = absl::ZeroDuration()}));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    absl::StatusOr<std::unique_ptr<RingServer>> server = RingServer::Attach(CopyOf(*client));
    if (!server.ok()) ::_exit(1);
    Serve(**server, kLaunches);
    ::_exit(0);
  }
  Drive(*client, kLaunches);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace weft::transport
