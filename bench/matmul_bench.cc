// What a large product of a library costs as a node of a prepared graph, and as a job of its own,
// beside the same call of the same library made in this process. GPUs only: on CPU devices another
// library carries it out.
#include <benchmark/benchmark.h>

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "bench/bare_product.h"
#include "bench/environment.h"
#include "client/client.h"
#include "client/job_builder.h"

namespace weft::bench {
namespace {

constexpr int64_t kExtent = 8192;
constexpr int kProductsPerBlock = 20;  // some 30 ms on an H200: long beside a change of contexts
constexpr int kNodes = 20;             // products that one graph has more than the other
constexpr double kOperations = 2.0 * kExtent * kExtent * kExtent;

// Of the bfloat16 numbers of one matrix, from -1 to 1. Random ones: a GPU multiplies zeros at a lower
// power, and so at a higher clock.
std::vector<uint16_t> RandomBrains() {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::vector<uint16_t> brains(static_cast<size_t>(kExtent) * kExtent);
  for (uint16_t& brain : brains) {
    brain = static_cast<uint16_t>(std::bit_cast<uint32_t>(distribution(random)) >> 16);
  }
  return brains;
}

// Prepared graphs of products in a row; their operands are buffers of the server, so that a launch is
// the products and nothing else.
class ServedProducts {
 public:
  static absl::StatusOr<std::unique_ptr<ServedProducts>> Create(
      const Environment& environment, std::span<const std::byte> elements) {
    WEFT_ASSIGN_OR_RETURN(client::Client client,
                          client::Client::Connect({.socket = environment.socket}));
    std::unique_ptr<ServedProducts> served(new ServedProducts);
    for (int i = 0; i < 3; ++i) {
      WEFT_ASSIGN_OR_RETURN(
          client::Buffer buffer,
          client.CreateBuffer(
              {.name = "", .data_type = v1::DATA_TYPE_BF16, .shape = {kExtent, kExtent}}));
      WEFT_RETURN_IF_ERROR(buffer.Upload(elements));
      served->buffers_.push_back(std::move(buffer));
    }
    WEFT_ASSIGN_OR_RETURN(served->one_, served->Prepare(client, 1));
    WEFT_ASSIGN_OR_RETURN(served->many_, served->Prepare(client, 1 + kNodes));
    return served;
  }

  absl::Status LaunchOne() { return one_->Launch().status(); }
  absl::Status LaunchMany() { return many_->Launch().status(); }

 private:
  ServedProducts() = default;

  absl::StatusOr<std::unique_ptr<client::PreparedGraph>> Prepare(const client::Client& client,
                                                                 int count) {
    client::JobBuilder job(absl::StrCat("products_", count));
    const client::JobView a = job.Shared("a", buffers_[0].reference());
    const client::JobView b = job.Shared("b", buffers_[1].reference());
    const client::JobView d = job.Shared("d", buffers_[2].reference());
    for (int i = 0; i < count; ++i) {
      job.Library("blas.matmul").Arg("a", a).Arg("b", b).Arg("d", d);
    }
    WEFT_ASSIGN_OR_RETURN(client::PreparedGraph graph, client.Prepare(job.proto()));
    return std::make_unique<client::PreparedGraph>(std::move(graph));
  }

  std::vector<client::Buffer> buffers_;
  std::unique_ptr<client::PreparedGraph> one_;  // gone before their buffers
  std::unique_ptr<client::PreparedGraph> many_;
};

absl::StatusOr<double> MillisecondsOf(const std::function<absl::Status()>& call) {
  const auto start = std::chrono::steady_clock::now();
  WEFT_RETURN_IF_ERROR(call());
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

// Mean milliseconds of a call, over one block of them.
absl::StatusOr<double> MeanOfBlock(const std::function<absl::Status()>& call) {
  WEFT_ASSIGN_OR_RETURN(const double all, MillisecondsOf([&call] {
                          for (int i = 0; i < kProductsPerBlock; ++i) {
                            WEFT_RETURN_IF_ERROR(call());
                          }
                          return absl::OkStatus();
                        }));
  return all / kProductsPerBlock;
}

struct Products {
  std::unique_ptr<BareProduct> bare;
  std::unique_ptr<ServedProducts> served;
  // Sums over the blocks: of bare products in a row, of nodes in a row, and of jobs of one product.
  double bare_ms = 0;
  double node_ms = 0;
  double job_ms = 0;
  bool is_bare_first = false;

  absl::Status Create(const Environment& environment) {
    const std::vector<uint16_t> brains = RandomBrains();
    const std::span<const std::byte> elements = std::as_bytes(std::span(brains));
    WEFT_ASSIGN_OR_RETURN(bare, BareProduct::Create(kExtent, elements));
    WEFT_ASSIGN_OR_RETURN(served, ServedProducts::Create(environment, elements));
    WEFT_RETURN_IF_ERROR(AddBlocks());
    bare_ms = node_ms = job_ms = 0;  // that was the warm-up
    return absl::OkStatus();
  }

  // Milliseconds of a product among many in a row: of two rows, what the longer one takes more is that
  // of its further products, without the call and the launch.
  template <typename Row>
  static absl::StatusOr<double> Further(Row&& row) {
    WEFT_ASSIGN_OR_RETURN(const double one, MillisecondsOf([&] { return row(1); }));
    WEFT_ASSIGN_OR_RETURN(const double many, MillisecondsOf([&] { return row(1 + kNodes); }));
    return (many - one) / kNodes;
  }
  absl::Status AddBare() {
    WEFT_ASSIGN_OR_RETURN(const double each,
                          Further([&](int count) { return bare->MultiplyAndWait(count); }));
    bare_ms += each;
    return absl::OkStatus();
  }
  absl::Status AddNodes() {
    WEFT_ASSIGN_OR_RETURN(const double each, Further([&](int count) {
                            return count == 1 ? served->LaunchOne() : served->LaunchMany();
                          }));
    node_ms += each;
    return absl::OkStatus();
  }

  // Blocks of all in turn, so that a change of the machine's speed hits them alike. Who goes first
  // takes turns as well: products in a row heat the device, which then slows down for the next row.
  absl::Status AddBlocks() {
    is_bare_first = !is_bare_first;
    if (is_bare_first) WEFT_RETURN_IF_ERROR(AddBare());
    WEFT_RETURN_IF_ERROR(AddNodes());
    if (!is_bare_first) WEFT_RETURN_IF_ERROR(AddBare());
    WEFT_ASSIGN_OR_RETURN(const double job, MeanOfBlock([&] { return served->LaunchOne(); }));
    job_ms += job;
    return absl::OkStatus();
  }
};

void MeasureProducts(benchmark::State& state, const Environment& environment) {
  Products products;
  absl::Status status = products.Create(environment);
  for (auto _ : state) {
    if (status.ok()) status = products.AddBlocks();
    if (!status.ok()) {
      state.SkipWithError(std::string(status.message()).c_str());
      return;
    }
  }
  const auto blocks = static_cast<double>(state.iterations());
  constexpr double kPerMsInTera = 1e-9;
  state.counters["bare_ms"] = products.bare_ms / blocks;
  state.counters["node_ms"] = products.node_ms / blocks;
  state.counters["job_ms"] = products.job_ms / blocks;
  state.counters["bare_tflops"] = kOperations * kPerMsInTera / (products.bare_ms / blocks);
  state.counters["node_tflops"] = kOperations * kPerMsInTera / (products.node_ms / blocks);
  state.counters["ratio"] = products.bare_ms / products.node_ms;
}

}  // namespace

void RegisterProducts(const Environment& environment) {
  if (environment.socket.empty()) return;
  const absl::Status gpu = environment.driver == "cpu"
                               ? absl::FailedPreconditionError("the driver is the CPU's")
                               : BareProduct::FindGpu();
  // Asked for a GPU, a machine without one is an error of the benchmark.
  if (!gpu.ok() && environment.driver != "cuda") {
    std::cerr << "weft-bench: library_product is left out, it needs a GPU: " << gpu.message()
              << "\n";
    return;
  }
  benchmark::RegisterBenchmark(
      "library_product/over_bare_call",
      [&environment](benchmark::State& state) { MeasureProducts(state, environment); })
      ->UseRealTime()
      ->Iterations(20)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace weft::bench
