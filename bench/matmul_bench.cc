// What a large product of a library costs as a prepared graph of a server, beside the same call of the
// same library made in this process. GPUs only: on CPU devices another library carries it out.
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
#include "base/status_macros.h"
#include "bench/bare_product.h"
#include "bench/environment.h"
#include "client/client.h"
#include "client/job_builder.h"

namespace weft::bench {
namespace {

constexpr int64_t kExtent = 8192;
constexpr int kProductsPerBlock = 20;  // some 30 ms on an H200: long beside a change of contexts
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

// The product as a prepared graph; its operands are buffers of the server, so that a launch is the
// product and nothing else.
class ServedProduct {
 public:
  static absl::StatusOr<std::unique_ptr<ServedProduct>> Create(
      const Environment& environment, std::span<const std::byte> elements) {
    WEFT_ASSIGN_OR_RETURN(client::Client client,
                          client::Client::Connect({.socket = environment.socket}));
    std::unique_ptr<ServedProduct> served(new ServedProduct);
    client::JobBuilder job("product");
    std::vector<client::JobView> views;
    for (const char* name : {"a", "b", "d"}) {
      WEFT_ASSIGN_OR_RETURN(
          client::Buffer buffer,
          client.CreateBuffer(
              {.name = "", .data_type = v1::DATA_TYPE_BF16, .shape = {kExtent, kExtent}}));
      WEFT_RETURN_IF_ERROR(buffer.Upload(elements));
      views.push_back(job.Shared(name, buffer.reference()));
      served->buffers_.push_back(std::move(buffer));
    }
    job.Library("blas.matmul").Arg("a", views[0]).Arg("b", views[1]).Arg("d", views[2]);
    WEFT_ASSIGN_OR_RETURN(client::PreparedGraph graph, client.Prepare(job.proto()));
    served->graph_ = std::make_unique<client::PreparedGraph>(std::move(graph));
    return served;
  }

  absl::Status LaunchAndWait() { return graph_->Launch().status(); }

 private:
  ServedProduct() = default;
  std::vector<client::Buffer> buffers_;
  std::unique_ptr<client::PreparedGraph> graph_;  // gone before its buffers
};

// Mean milliseconds of a product, over one block of them.
absl::StatusOr<double> TimeProducts(const std::function<absl::Status()>& multiply) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kProductsPerBlock; ++i) WEFT_RETURN_IF_ERROR(multiply());
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count() / kProductsPerBlock;
}

struct Products {
  std::unique_ptr<BareProduct> bare;
  std::unique_ptr<ServedProduct> served;
  double bare_ms = 0;  // sums of the blocks' means
  double served_ms = 0;

  absl::Status Create(const Environment& environment) {
    const std::vector<uint16_t> brains = RandomBrains();
    const std::span<const std::byte> elements = std::as_bytes(std::span(brains));
    WEFT_ASSIGN_OR_RETURN(bare, BareProduct::Create(kExtent, elements));
    WEFT_ASSIGN_OR_RETURN(served, ServedProduct::Create(environment, elements));
    return AddBlocks();
  }

  // Blocks of the two in turn, so that a change of the machine's speed hits both alike.
  absl::Status AddBlocks() {
    WEFT_ASSIGN_OR_RETURN(const double one, TimeProducts([&] { return bare->MultiplyAndWait(); }));
    WEFT_ASSIGN_OR_RETURN(const double other,
                          TimeProducts([&] { return served->LaunchAndWait(); }));
    bare_ms += one;
    served_ms += other;
    return absl::OkStatus();
  }
};

void MeasureProducts(benchmark::State& state, const Environment& environment) {
  Products products;
  absl::Status status = products.Create(environment);
  products.bare_ms = products.served_ms = 0;  // that was the warm-up
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
  state.counters["job_ms"] = products.served_ms / blocks;
  state.counters["bare_tflops"] = kOperations * kPerMsInTera / (products.bare_ms / blocks);
  state.counters["job_tflops"] = kOperations * kPerMsInTera / (products.served_ms / blocks);
  state.counters["ratio"] = products.served_ms / products.bare_ms;
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
