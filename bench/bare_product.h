// The floor under a matrix product: the library's call, made in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuda/blas_lt.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/memory.h"
#include "cuda/stream.h"

namespace weft::bench {

// d = a b of square bfloat16 matrices by cuBLASLt, with the workspace that blas.matmul gives it.
// Thread safety: none; one caller at a time. Making one makes a CUDA context.
class BareProduct {
 public:
  // OK where there is a GPU; loads its driver.
  static absl::Status FindGpu();

  // `elements`: the bytes of extent × extent elements, which a and b both get.
  // Errors: those of FindGpu; NOT_FOUND (no cuBLASLt); RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<BareProduct>> Create(uint64_t extent,
                                                             std::span<const std::byte> elements);

  // So many products in a row; blocks, spinning, until they are there.
  absl::Status MultiplyAndWait(int count);

 private:
  // Memory with an address.
  struct Placed {
    cuda::Allocation memory;
    cuda::AddressRange range;
    cuda::Mapping mapping;
  };

  BareProduct() = default;
  absl::StatusOr<CUdeviceptr> Allocate(size_t size_bytes);
  absl::Status Prepare(uint64_t extent, std::span<const std::byte> elements);

  // Destroyed from the last to the first.
  std::unique_ptr<const cuda::Driver> driver_;
  std::optional<cuda::Context> context_;
  std::vector<Placed> placed_;
  std::optional<cuda::Stream> stream_;
  std::unique_ptr<const cuda::BlasLt> blas_;
  std::shared_ptr<const cuda::LibraryCall> call_;
};

}  // namespace weft::bench
