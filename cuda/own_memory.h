// Device memory that a call of a library owns, where the plan's workspace is too small for it.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "cuda/context.h"
#include "cuda/memory.h"

namespace weft::cuda {

// Move-only. Destroying it waits for no work. Cost: 0.1 to 0.2 ms to make.
class OwnMemory {
 public:
  // Errors: RESOURCE_EXHAUSTED.
  static absl::StatusOr<OwnMemory> Create(const Context& context, uint64_t size_bytes);
  CUdeviceptr address() const { return mapping_.address(); }

 private:
  OwnMemory(AddressRange range, Mapping mapping)
      : range_(std::move(range)), mapping_(std::move(mapping)) {}
  AddressRange range_;  // destroyed after the mapping in it
  Mapping mapping_;
};

}  // namespace weft::cuda
