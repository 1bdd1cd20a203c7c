#include "cuda/host/launch_attributes.h"

#include <algorithm>

#include "cuda/host/worker_pool.h"

namespace weft::hostcuda {
namespace {

// What every GPU with clusters has (CUDA C++ Programming Guide, "Thread Block Clusters").
constexpr uint64_t kMaxClusterBlocks = 8;

}  // namespace

CUresult LaunchAttributes::Set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      if (value.clusterDim.x == 0 || value.clusterDim.y == 0 || value.clusterDim.z == 0) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      cluster_x = value.clusterDim.x;
      cluster_y = value.clusterDim.y;
      cluster_z = value.clusterDim.z;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      priority =
          std::clamp(value.priority, WorkerPool::kGreatestPriority, WorkerPool::kLeastPriority);
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      return value.cooperative == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult LaunchAttributes::Check(const weft_host_launch& shape) const {
  if (cluster_x == 0) return CUDA_SUCCESS;
  if (cluster_x > kMaxClusterBlocks || cluster_y > kMaxClusterBlocks ||
      cluster_z > kMaxClusterBlocks ||
      uint64_t{cluster_x} * cluster_y * cluster_z > kMaxClusterBlocks) {
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  }
  const bool divides = shape.grid_x % cluster_x == 0 && shape.grid_y % cluster_y == 0 &&
                       shape.grid_z % cluster_z == 0;
  return divides ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace weft::hostcuda
