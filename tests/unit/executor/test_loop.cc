#include "tests/unit/executor/test_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/unique_fd.h"

namespace weft::executor {
namespace {

class FunctionRunner final : public GraphRunner {
 public:
  explicit FunctionRunner(LaunchFunction launch) : launch_(std::move(launch)) {}
  absl::Status Launch(const cuda::StreamRef& stream) override { return launch_(stream); }

 private:
  const LaunchFunction launch_;
};

class CutRunner final : public GraphRunner {
 public:
  CutRunner(build::SegmentTable table, std::vector<LaunchFunction> segments)
      : table_(std::move(table)), segments_(std::move(segments)) {}
  absl::Status Launch(const cuda::StreamRef&) override { return absl::OkStatus(); }
  const build::SegmentTable* segments() const override { return &table_; }
  absl::Status LaunchSegment(uint32_t segment, const cuda::StreamRef& stream) override {
    EXPECT_FALSE(table_.entries[segment].is_wait());
    return segments_[segment](stream);
  }

 private:
  const build::SegmentTable table_;
  const std::vector<LaunchFunction> segments_;
};

}  // namespace

TableOf& TableOf::Wait(CUdeviceptr address, uint64_t value, const After& after) {
  build::SegmentTable::Entry entry;
  entry.kind = plan::Segment::Kind::kWait;
  entry.address = address;
  entry.value = value;
  return Add(entry, after);
}

TableOf& TableOf::Add(const build::SegmentTable::Entry& entry, const After& after) {
  entries_.push_back(entry);
  entries_.back().before = static_cast<uint32_t>(after.size());
  after_.push_back(after);
  return *this;
}

build::SegmentTable TableOf::Make() const {
  build::SegmentTable table;
  table.entries = entries_;
  for (uint32_t s = 0; s < entries_.size(); ++s) {
    table.entries[s].behind.begin = static_cast<uint32_t>(table.behind.size());
    for (uint32_t other = s + 1; other < entries_.size(); ++other) {
      for (const uint32_t before : after_[other]) {
        if (before == s) table.behind.push_back(other);
      }
    }
    table.entries[s].behind.count =
        static_cast<uint32_t>(table.behind.size()) - table.entries[s].behind.begin;
  }
  return table;
}

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
  auto ring = *transport::RingServer::Attach(UniqueFd(::fcntl(client_->fd(), F_DUPFD_CLOEXEC, 0)));
  notice_ = ring->notice();
  loop_ = std::make_unique<LaunchLoop>(context, graphs_, std::move(ring), std::move(options));
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

std::shared_ptr<PreparedGraph> TestLoop::AddCut(uint64_t id, build::SegmentTable table,
                                                std::vector<LaunchFunction> segments,
                                                GraphFacts facts) {
  auto graph = std::make_shared<PreparedGraph>(
      GraphId(id), std::move(facts), PreparedGraph::Memory{},
      std::make_unique<CutRunner>(std::move(table), std::move(segments)));
  EXPECT_TRUE(graphs_.Add(graph).ok());
  return graph;
}

transport::Completion TestLoop::Next() {
  std::optional<transport::Completion> completion = client_->Wait(absl::Seconds(30));
  while (!completion.has_value() && client_->TakeNotice()) {
    noticed_ = true;
    completion = client_->Wait(absl::Seconds(30));
  }
  EXPECT_TRUE(completion.has_value());
  return completion.value_or(transport::Completion{});
}

bool TestLoop::TakeNotice() {
  const bool is_given = client_->TakeNotice();
  return std::exchange(noticed_, false) || is_given;
}

LaunchLoop::Outcome TestLoop::Join() {
  thread_.join();
  return *outcome_;
}

}  // namespace weft::executor
