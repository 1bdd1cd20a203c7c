// What launches and kernel nodes ask for beyond their shape (CUlaunchAttribute).
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/host/cuda_api.h"
#include "cuda/host/image_abi.h"

namespace weft::hostcuda {

struct LaunchAttributes {
  // Blocks of a cluster; 0: none. Blocks run one after the other here, so that a cluster is only
  // checked: what its blocks could share is not there for kernels of the host.
  uint32_t cluster_x = 0, cluster_y = 0, cluster_z = 0;
  std::optional<int> priority;

  // Takes one attribute over. Errors: INVALID_VALUE; NOT_SUPPORTED for one that is not there, and for
  // cooperative launches: blocks run one after the other, and one that waits for another never ends.
  CUresult Set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value);
  // Errors: INVALID_CLUSTER_SIZE (more than 8 blocks), INVALID_VALUE (the grid is no multiple of it).
  CUresult Check(const weft_host_launch& shape) const;
};

}  // namespace weft::hostcuda
