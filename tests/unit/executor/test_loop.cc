#include "tests/unit/executor/test_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/unique_fd.h"
#include "transport/ring_server.h"

namespace weft::executor {
namespace {

class FunctionRunner final : public GraphRunner {
 public:
  explicit FunctionRunner(LaunchFunction launch) : launch_(std::move(launch)) {}
  absl::Status Launch(const cuda::StreamRef& stream) override { return launch_(stream); }

 private:
  const LaunchFunction launch_;
};

}  // namespace

LaunchFunction Gate::Launch() {
  return [this](const cuda::StreamRef& stream) { return stream.LaunchHostFunc(&Block, this); };
}

void Gate::Block(void* gate) {
  auto* self = static_cast<Gate*>(gate);
  self->running_.Notify();
  self->open_.WaitForNotification();
}

TestLoop::TestLoop(const cuda::Context& context, LaunchLoopOptions options) {
  client_ = *transport::RingClient::Create({.capacity = 256, .spin = absl::Microseconds(20)});
  loop_ = std::make_unique<LaunchLoop>(
      context, graphs_,
      *transport::RingServer::Attach(UniqueFd(::fcntl(client_->fd(), F_DUPFD_CLOEXEC, 0))),
      std::move(options));
  thread_ = std::thread([this] { outcome_ = loop_->Run(); });
}

TestLoop::~TestLoop() {
  if (!thread_.joinable()) return;
  loop_->Stop();
  thread_.join();
}

std::shared_ptr<PreparedGraph> TestLoop::Add(uint64_t id, LaunchFunction launch, GraphFacts facts) {
  auto graph =
      std::make_shared<PreparedGraph>(GraphId(id), std::move(facts), PreparedGraph::Memory{},
                                      std::make_unique<FunctionRunner>(std::move(launch)));
  EXPECT_TRUE(graphs_.Add(graph).ok());
  return graph;
}

transport::Completion TestLoop::Next() {
  const std::optional<transport::Completion> completion = client_->Wait(absl::Seconds(30));
  EXPECT_TRUE(completion.has_value());
  return completion.value_or(transport::Completion{});
}

LaunchLoop::Outcome TestLoop::Join() {
  thread_.join();
  return *outcome_;
}

}  // namespace weft::executor
