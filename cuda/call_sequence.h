// Several pieces of work as one call of a library: kernels, copies and fills before and behind the library's own.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "cuda/library_call.h"
#include "cuda/memory.h"
#include "cuda/module.h"

namespace weft::cuda {

// Puts its steps into the stream one after the other. Blocks where one of them does.
class CallSequence final : public LibraryCall {
 public:
  struct Kernel {
    Function function;
    Dim3 grid;
    Dim3 block;
    uint32_t dynamic_shared_bytes = 0;
    std::vector<uint64_t> words;  // the value of each parameter in its low bytes
  };
  struct Copy {
    CUdeviceptr destination = 0;
    CUdeviceptr source = 0;
    uint64_t size_bytes = 0;
  };
  struct Fill {
    CUdeviceptr destination = 0;
    FillPattern pattern;
    uint64_t count = 0;
  };
  using Step = std::variant<Kernel, Copy, Fill, std::shared_ptr<const LibraryCall>>;

  explicit CallSequence(std::vector<Step> steps) : steps_(std::move(steps)) {}
  absl::Status Enqueue(const StreamRef& stream) const override;

 private:
  const std::vector<Step> steps_;
};

}  // namespace weft::cuda
