// The references: for every kernel, how a problem of given extents is made and what it must give.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/dtype.h"
#include "tests/kernels/problem.h"

namespace weft::kernels::testing {

enum class Sizes { kVector, kMatrix, kMatmul };

// How close the GPU and the CPU twin must be to each other.
enum class Twins {
  kSameBits,         // every operation is rounded alike on both sides
  kWithinTolerance,  // orders of summation, fused operations or exp differ
};

struct KernelCase {
  absl::string_view kernel;
  Sizes sizes;
  Twins twins;
  void (*build)(Problem& problem);
};

absl::Span<const KernelCase> ElementwiseCases();
absl::Span<const KernelCase> ReductionCases();
absl::Span<const KernelCase> MatrixCases();
absl::Span<const KernelCase> ImageCases();
absl::Span<const KernelCase> GatherCases();
absl::Span<const KernelCase> RandomCases();

// nullptr when there is no case for the kernel.
const KernelCase* FindCase(absl::string_view kernel);

// Extents to run a case on; the short list when WEFT_TEST_SMALL is set (sanitizers).
std::vector<Extents> ExtentsOf(Sizes sizes);

}  // namespace weft::kernels::testing
