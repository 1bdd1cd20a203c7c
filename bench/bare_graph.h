// The floor under a launch: a CUDA graph of one kernel node, launched and waited for in this process.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/graph.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "cuda/stream.h"

namespace weft::bench {

// `name`: "auto" (cuda where it works, else cpu), "cuda" or "cpu".
absl::StatusOr<std::unique_ptr<const cuda::Driver>> LoadDriverByName(const std::string& name);

// Thread safety: none; one caller at a time. Making one makes a CUDA context.
class BareGraph {
 public:
  // `driver`: as LoadDriverByName takes it.
  static absl::StatusOr<std::unique_ptr<BareGraph>> Create(const std::string& driver);

  // One launch; blocks, spinning, until the node has run.
  absl::Status LaunchAndWait();

 private:
  BareGraph() = default;
  absl::Status Record();

  // Destroyed from the last to the first.
  std::unique_ptr<const cuda::Driver> driver_;
  std::optional<cuda::Context> context_;
  std::optional<cuda::Module> module_;
  std::optional<cuda::Allocation> memory_;
  std::optional<cuda::AddressRange> range_;
  std::optional<cuda::Mapping> mapping_;
  std::optional<cuda::Stream> stream_;
  std::optional<cuda::Graph> graph_;
  std::optional<cuda::GraphExec> exec_;
};

}  // namespace weft::bench
