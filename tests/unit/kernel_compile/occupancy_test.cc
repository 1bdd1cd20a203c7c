// Against cuda_occupancy.h, the toolkit's own calculator.
#include "kernels/compile/occupancy.h"

#include <cuda_occupancy.h>
#include <gtest/gtest.h>

namespace weft::kernels {
namespace {

KernelInfo KernelWith(uint32_t registers, uint32_t shared_bytes) {
  KernelInfo kernel;
  kernel.resources = KernelResources{registers, 0, shared_bytes, 0};
  return kernel;
}

int BlocksByTheToolkit(const MultiprocessorLimits& limits, const KernelInfo& kernel,
                       uint32_t threads, uint32_t dynamic_bytes) {
  cudaOccDeviceProp device;
  device.computeMajor = static_cast<int>(limits.architecture / 10);
  device.computeMinor = static_cast<int>(limits.architecture % 10);
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = static_cast<int>(limits.threads);
  device.regsPerBlock = device.regsPerMultiprocessor = 65536;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerMultiprocessor = limits.shared_bytes;
  device.numSms = 1;
  device.sharedMemPerBlockOptin = limits.shared_bytes_per_block;
  device.reservedSharedMemPerBlock = limits.reserved_shared_bytes;
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = 1024;
  function.numRegs = static_cast<int>(kernel.resources->registers);
  function.sharedSizeBytes = kernel.resources->static_shared_bytes;
  function.partitionedGCConfig = PARTITIONED_GC_OFF;
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = limits.shared_bytes_per_block - function.sharedSizeBytes;
  function.numBlockBarriers = 1;
  cudaOccDeviceState state;
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result;
  EXPECT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state,
                                                    static_cast<int>(threads), dynamic_bytes),
            CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

class OccupancyTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(OccupancyTest, BlocksAreThoseOfTheToolkitsCalculator) {
  const MultiprocessorLimits limits = LimitsOf(GetParam()).value();
  for (const uint32_t registers : {0u, 1u, 16u, 32u, 33u, 40u, 64u, 65u, 128u, 168u, 255u}) {
    for (const uint32_t shared : {0u, 1u, 4096u, 20000u, 49152u}) {
      for (const uint32_t dynamic : {0u, 100u, 16384u, 50000u, 200000u}) {
        for (const uint32_t threads : {1u, 32u, 96u, 128u, 160u, 256u, 512u, 768u, 1024u}) {
          const KernelInfo kernel = KernelWith(registers, shared);
          EXPECT_EQ(ComputeOccupancy(limits, kernel, threads, dynamic).blocks,
                    static_cast<uint32_t>(BlocksByTheToolkit(limits, kernel, threads, dynamic)))
              << registers << " registers, " << shared << " + " << dynamic << " bytes, " << threads
              << " threads";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, OccupancyTest,
                         ::testing::Values(75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121));

TEST(OccupancyLimitTest, TheKernelsOwnLimitOfThreadsHolds) {
  KernelInfo kernel = KernelWith(32, 0);
  kernel.max_block = {128, 1, 1};
  const MultiprocessorLimits limits = LimitsOf(90).value();
  EXPECT_EQ(ComputeOccupancy(limits, kernel, 129, 0).blocks, 0u);
  EXPECT_EQ(BestBlockThreads(limits, kernel, 0), 128u);
}

TEST(OccupancyLimitTest, WhatLimitsIsNamed) {
  const MultiprocessorLimits limits = LimitsOf(90).value();
  EXPECT_EQ(ComputeOccupancy(limits, KernelWith(128, 0), 256, 0).limit,
            Occupancy::Limit::kRegisters);
  EXPECT_EQ(ComputeOccupancy(limits, KernelWith(16, 40000), 256, 0).limit,
            Occupancy::Limit::kShared);
  EXPECT_EQ(ComputeOccupancy(limits, KernelWith(16, 0), 32, 0).limit, Occupancy::Limit::kBlocks);
  EXPECT_DOUBLE_EQ(ComputeOccupancy(limits, KernelWith(16, 0), 32, 0).fraction, 0.5);
}

TEST(OccupancyLimitTest, ArchitecturesAreReadAsPeopleWriteThem) {
  for (const char* text : {"sm_90", "90", "9.0", "sm_90a", "compute_90"}) {
    EXPECT_EQ(ParseArchitecture(text), 90u) << text;
  }
  EXPECT_FALSE(ParseArchitecture("hopper").has_value());
  EXPECT_FALSE(LimitsOf(35).has_value());
}

}  // namespace
}  // namespace weft::kernels
