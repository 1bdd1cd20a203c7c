// The parameter values of a call's phases, in the form cuLaunchKernel takes.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/bind.h"
#include "kernels/schema.h"

namespace weft::kernels {

// Where a parameter lies in the kernel's parameter buffer, by the rules of C structs.
struct ParameterSlot {
  uint32_t offset = 0;
  uint32_t size = 0;
  friend bool operator==(const ParameterSlot&, const ParameterSlot&) = default;
};

// One entry a parameter, in order. The same for every phase.
std::vector<ParameterSlot> ParameterLayout(const KernelSchema& schema, const BoundCall& call);

// Parameter values: words[i] holds parameter i in its low bytes.
struct ParameterPack {
  std::vector<uint64_t> words;
  std::vector<ParameterSlot> slots;

  // For the kernelParams of a launch or a kernel node; points into `words`, so it is valid until
  // `words` is changed, copied from elsewhere or destroyed.
  std::vector<void*> Pointers();
};

// `addresses`: device addresses of the buffer arguments that the call gives, in schema
// order. Those left out have the address 0.
// `workspace`: its device address, ignored where the schema has no workspace.
// Errors: INVALID_ARGUMENT when the number of addresses is not that of the buffer arguments.
absl::StatusOr<ParameterPack> PackParameters(const KernelSchema& schema, const BoundCall& call,
                                             absl::Span<const uint64_t> addresses,
                                             uint64_t workspace);

}  // namespace weft::kernels
