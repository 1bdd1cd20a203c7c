// What a copy node moves in a second, beside a bare cuMemcpyAsync in this process.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/byte_range.h"
#include "base/status_macros.h"
#include "bench/bare_graph.h"
#include "bench/environment.h"
#include "client/client.h"
#include "client/job_builder.h"
#include "cuda/context.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "transport/shared_memory.h"

namespace weft::bench {
namespace {

// Copies that are timed together: enough that the launch and the wait hardly count.
constexpr int kCopies = 8;
constexpr int kWarmUps = 2;

enum class Source { kDevice, kPinned };

using Seconds = std::chrono::duration<double>;

template <typename Call>
absl::StatusOr<Seconds> TimeOf(Call&& call) {
  const auto start = std::chrono::steady_clock::now();
  WEFT_RETURN_IF_ERROR(call());
  return Seconds(std::chrono::steady_clock::now() - start);
}

// Device memory as weft-executor makes it.
class DeviceBlock {
 public:
  static absl::StatusOr<DeviceBlock> Create(const cuda::Context& context, uint64_t size_bytes) {
    WEFT_ASSIGN_OR_RETURN(const size_t granularity, cuda::AllocationGranularity(context));
    const uint64_t size = AlignUp(size_bytes, granularity);
    WEFT_ASSIGN_OR_RETURN(const cuda::Allocation memory, cuda::Allocation::Create(context, size));
    WEFT_ASSIGN_OR_RETURN(cuda::AddressRange range, cuda::AddressRange::Reserve(context, size));
    WEFT_ASSIGN_OR_RETURN(cuda::Mapping mapping,
                          cuda::Mapping::Create(context, range.address(), memory));
    return DeviceBlock(std::move(range), std::move(mapping));
  }
  CUdeviceptr address() const { return mapping_.address(); }

 private:
  DeviceBlock(cuda::AddressRange range, cuda::Mapping mapping)
      : range_(std::move(range)), mapping_(std::move(mapping)) {}
  cuda::AddressRange range_;  // outlives what is mapped in it
  cuda::Mapping mapping_;
};

// Copies of the driver's own, between memory of this process.
class BareCopies {
 public:
  static absl::StatusOr<std::unique_ptr<BareCopies>> Create(const cuda::Driver& driver,
                                                            Source source, uint64_t size_bytes) {
    std::unique_ptr<BareCopies> bare(new BareCopies(size_bytes));
    WEFT_ASSIGN_OR_RETURN(bare->context_, cuda::Context::Create(driver, 0));
    WEFT_ASSIGN_OR_RETURN(bare->target_, DeviceBlock::Create(*bare->context_, size_bytes));
    WEFT_ASSIGN_OR_RETURN(bare->stream_, cuda::Stream::Create(*bare->context_, {}));
    WEFT_RETURN_IF_ERROR(bare->MakeSource(source));
    // Pages that were never written are copied faster than they ever are in use.
    WEFT_RETURN_IF_ERROR(
        cuda::FillAsync(bare->stream_->ref(), bare->source_address_, {1, 1}, size_bytes));
    WEFT_RETURN_IF_ERROR(bare->stream_->ref().Synchronize());
    return bare;
  }

  absl::Status Run() const {
    for (int i = 0; i < kCopies; ++i) {
      WEFT_RETURN_IF_ERROR(
          cuda::CopyAsync(stream_->ref(), target_->address(), source_address_, size_bytes_));
    }
    return stream_->ref().Synchronize();
  }

 private:
  explicit BareCopies(uint64_t size_bytes) : size_bytes_(size_bytes) {}

  absl::Status MakeSource(Source source) {
    if (source == Source::kDevice) {
      WEFT_ASSIGN_OR_RETURN(source_, DeviceBlock::Create(*context_, size_bytes_));
      source_address_ = source_->address();
      return absl::OkStatus();
    }
    WEFT_ASSIGN_OR_RETURN(host_, transport::SharedMemory::Create("weft-bench", size_bytes_));
    WEFT_ASSIGN_OR_RETURN(pinned_,
                          cuda::PinnedHost::Register(*context_, host_.data(), host_.size()));
    source_address_ = pinned_->device_address();
    return absl::OkStatus();
  }

  const uint64_t size_bytes_;
  // Destroyed from the last to the first.
  std::optional<cuda::Context> context_;
  std::optional<DeviceBlock> target_;
  std::optional<DeviceBlock> source_;
  transport::SharedMemory host_;
  std::optional<cuda::PinnedHost> pinned_;
  std::optional<cuda::Stream> stream_;
  CUdeviceptr source_address_ = 0;
};

// Two prepared graphs that differ in kCopies copy nodes: what the second takes longer is theirs,
// without the call, the launch and the fill that the source needs.
class CopyNodes {
 public:
  static absl::StatusOr<CopyNodes> Create(const client::Client& client, Source source,
                                          uint64_t size_bytes) {
    WEFT_ASSIGN_OR_RETURN(client::PreparedGraph few, client.Prepare(Job(source, size_bytes, 1)));
    WEFT_ASSIGN_OR_RETURN(client::PreparedGraph many,
                          client.Prepare(Job(source, size_bytes, 1 + kCopies)));
    return CopyNodes(std::move(few), std::move(many));
  }

  absl::StatusOr<Seconds> Time() {
    WEFT_ASSIGN_OR_RETURN(const Seconds few, TimeOf([this] { return few_.Launch().status(); }));
    WEFT_ASSIGN_OR_RETURN(const Seconds many, TimeOf([this] { return many_.Launch().status(); }));
    return many - few;
  }

 private:
  CopyNodes(client::PreparedGraph few, client::PreparedGraph many)
      : few_(std::move(few)), many_(std::move(many)) {}

  static v1::Job Job(Source source, uint64_t size_bytes, int copies) {
    client::JobBuilder job(absl::StrCat("copies_", copies));
    const client::Shape shape = {static_cast<int64_t>(size_bytes)};
    const client::JobView from = source == Source::kPinned
                                     ? job.Pinned("from", v1::DATA_TYPE_U8, shape)
                                     : job.Buffer("from", v1::DATA_TYPE_U8, shape);
    const client::JobView to = job.Buffer("to", v1::DATA_TYPE_U8, shape);
    job.Fill(from, 1, 1);
    for (int i = 0; i < copies; ++i) job.Copy(from, to);
    return job.proto();
  }

  client::PreparedGraph few_;
  client::PreparedGraph many_;
};

struct Sums {
  Seconds nodes{0};
  Seconds bare{0};
};

absl::Status AddBlock(CopyNodes& nodes, const BareCopies& bare, Sums& sums) {
  WEFT_ASSIGN_OR_RETURN(const Seconds node_time, nodes.Time());
  WEFT_ASSIGN_OR_RETURN(const Seconds bare_time, TimeOf([&bare] { return bare.Run(); }));
  sums.nodes += node_time;
  sums.bare += bare_time;
  return absl::OkStatus();
}

absl::Status Measure(benchmark::State& state, const Environment& environment, Source source) {
  WEFT_ASSIGN_OR_RETURN(const auto driver, LoadDriverByName(environment.driver));
  const bool is_gpu = driver->kind == cuda::DriverKind::kCuda;
  const uint64_t mib = source == Source::kDevice ? (is_gpu ? 1024 : 64) : (is_gpu ? 256 : 16);
  const uint64_t size_bytes = mib << 20;
  WEFT_ASSIGN_OR_RETURN(const client::Client client,
                        client::Client::Connect({.socket = environment.socket}));
  WEFT_ASSIGN_OR_RETURN(CopyNodes nodes, CopyNodes::Create(client, source, size_bytes));
  WEFT_ASSIGN_OR_RETURN(const auto bare, BareCopies::Create(*driver, source, size_bytes));
  Sums sums;
  for (int i = 0; i < kWarmUps; ++i) WEFT_RETURN_IF_ERROR(AddBlock(nodes, *bare, sums));
  sums = Sums();
  for (auto _ : state) WEFT_RETURN_IF_ERROR(AddBlock(nodes, *bare, sums));
  const double gigabytes =
      static_cast<double>(state.iterations()) * kCopies * static_cast<double>(size_bytes) / 1e9;
  state.counters["node_GB_s"] = gigabytes / sums.nodes.count();
  state.counters["bare_GB_s"] = gigabytes / sums.bare.count();
  state.counters["ratio"] = sums.bare.count() / sums.nodes.count();
  return absl::OkStatus();
}

}  // namespace

void RegisterCopies(const Environment& environment) {
  if (environment.socket.empty()) return;
  for (const auto& [name, source] :
       {std::pair<const char*, Source>{"device_to_device", Source::kDevice},
        {"pinned_to_device", Source::kPinned}}) {
    benchmark::RegisterBenchmark(absl::StrCat("copy_node/", name).c_str(),
                                 [&environment, from = source](benchmark::State& state) {
                                   const absl::Status status = Measure(state, environment, from);
                                   if (!status.ok())
                                     state.SkipWithError(std::string(status.message()).c_str());
                                 })
        ->UseRealTime()
        ->Iterations(20)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace weft::bench
