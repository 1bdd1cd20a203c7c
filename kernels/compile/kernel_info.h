// What compiled code says of the kernels in it, whatever form the code has.
//
// Thread safety: values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace weft::kernels {

// Where a parameter lies in the packed parameters of a launch.
struct KernelParameterInfo {
  uint32_t offset_bytes = 0;
  uint32_t size_bytes = 0;
  friend bool operator==(const KernelParameterInfo&, const KernelParameterInfo&) = default;
};

// What only machine code has.
struct KernelResources {
  uint32_t registers = 0;            // of a thread
  uint32_t stack_bytes = 0;          // local memory of a thread: its stack frame, spills included
  uint32_t static_shared_bytes = 0;  // of a block, without what the system reserves
  uint32_t constant_bytes = 0;       // of bank 0: parameters and what the compiler puts beside them
};

struct KernelInfo {
  std::string name;
  std::vector<KernelParameterInfo> parameters;  // as declared
  std::optional<KernelResources> resources;     // nullopt: not compiled yet (PTX)
  std::array<uint32_t, 3> max_block = {};       // __launch_bounds__; 0: no limit
  bool block_required = false;                  // blocks must have exactly max_block threads
  std::array<uint32_t, 3> cluster = {};         // blocks of a cluster as compiled; 0: none
};

// A __device__ or __constant__ variable.
struct VariableInfo {
  std::string name;
  uint64_t size_bytes = 0;
  bool constant = false;
};

// One image: machine code of one architecture, or PTX.
struct CodeInfo {
  std::string architecture;             // "sm_90", "compute_80"
  std::vector<KernelInfo> kernels;      // by name
  std::vector<VariableInfo> variables;  // by name
};

}  // namespace weft::kernels
