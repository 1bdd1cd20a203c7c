#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <vector>

#include "base/unique_fd.h"
#include "cuda/host/device_memory.h"
#include "cuda/host/memory_actions.h"
#include "cuda/host/plain_memory.h"
#include "cuda/host/region_map.h"
#include "cuda/host/virtual_memory.h"
#include "tests/testing/status_matchers.h"

namespace weft::hostcuda {
namespace {

constexpr uint64_t kUnit = DeviceMemory::kGranularity;

unsigned char* Bytes(uint64_t address) { return reinterpret_cast<unsigned char*>(address); }

// One process's memory: four units on each of two devices.
struct Memory {
  DeviceMemory device{2, 4 * kUnit};
  RegionMap regions;
  VirtualMemory virtual_memory{regions};
  PlainMemory plain{device, regions};

  std::shared_ptr<MemoryBlock> Block(uint64_t size = kUnit) {
    std::shared_ptr<MemoryBlock> block;
    EXPECT_EQ(device.Allocate(0, size, &block), CUDA_SUCCESS);
    return block;
  }
  uint64_t Range(uint64_t size, uint64_t hint = 0) {
    uint64_t address = 0;
    EXPECT_EQ(virtual_memory.Reserve(size, 0, hint, &address), CUDA_SUCCESS);
    return address;
  }
  uint64_t Mapped(std::shared_ptr<MemoryBlock> block) {
    const uint64_t size = block->size();
    const uint64_t address = Range(size);
    EXPECT_EQ(virtual_memory.Map(address, size, std::move(block)), CUDA_SUCCESS);
    EXPECT_EQ(virtual_memory.SetAccess(address, size, 0, Access::kReadWrite), CUDA_SUCCESS);
    return address;
  }
};

TEST(DeviceMemoryTest, BudgetOfADeviceIsKept) {
  Memory memory;
  auto first = memory.Block(3 * kUnit);
  EXPECT_EQ(memory.device.free_bytes(0), kUnit);
  std::shared_ptr<MemoryBlock> second;
  EXPECT_EQ(memory.device.Allocate(0, 2 * kUnit, &second), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(memory.device.Allocate(1, 2 * kUnit, &second), CUDA_SUCCESS);
  first.reset();
  EXPECT_EQ(memory.device.free_bytes(0), 4 * kUnit);
}

TEST(DeviceMemoryTest, ImportInTheSameProcessIsTheSameBlockAndCountsOnce) {
  Memory memory;
  auto block = memory.Block();
  std::shared_ptr<MemoryBlock> imported;
  ASSERT_EQ(memory.device.Import(block->fd(), &imported), CUDA_SUCCESS);
  EXPECT_EQ(imported, block);
  EXPECT_EQ(memory.device.free_bytes(0), 3 * kUnit);
}

TEST(DeviceMemoryTest, ImportSharesTheBytesAndOutlivesTheMaker) {
  Memory importer;
  std::shared_ptr<MemoryBlock> imported;
  {
    Memory maker;
    auto block = maker.Block();
    Bytes(maker.Mapped(block))[5] = 42;
    ASSERT_EQ(importer.device.Import(block->fd(), &imported), CUDA_SUCCESS);
  }
  EXPECT_EQ(importer.device.free_bytes(0), 3 * kUnit);
  EXPECT_EQ(Bytes(importer.Mapped(imported))[5], 42);
}

TEST(DeviceMemoryTest, ForeignDescriptorsAreNotImported) {
  Memory memory;
  std::shared_ptr<MemoryBlock> block;
  ASSERT_OK_AND_ASSIGN(const UniqueFd sealed,
                       UniqueFd::Memfd("other", kUnit, UniqueFd::Seal::kSealSize));
  ASSERT_OK_AND_ASSIGN(const UniqueFd unsealed,
                       UniqueFd::Memfd("weft_hostcuda_0", kUnit, UniqueFd::Seal::kNone));
  ASSERT_OK_AND_ASSIGN(const UniqueFd event, UniqueFd::Eventfd());
  for (const int fd : {-1, 1 << 20, sealed.get(), unsealed.get(), event.get()}) {
    EXPECT_EQ(memory.device.Import(fd, &block), CUDA_ERROR_INVALID_VALUE) << fd;
  }
}

TEST(VirtualMemoryTest, HintIsTakenWhenItIsFree) {
  Memory memory;
  const uint64_t address = memory.Range(2 * kUnit);
  ASSERT_EQ(memory.virtual_memory.Free(address, 2 * kUnit), CUDA_SUCCESS);
  EXPECT_EQ(memory.Range(2 * kUnit, address), address);
  const uint64_t elsewhere = memory.Range(2 * kUnit, address);
  EXPECT_NE(elsewhere, address);
  EXPECT_EQ(elsewhere % kUnit, 0u);
}

TEST(VirtualMemoryTest, AlignmentIsKept) {
  Memory memory;
  uint64_t address = 0;
  ASSERT_EQ(memory.virtual_memory.Reserve(kUnit, 64 * kUnit, 0, &address), CUDA_SUCCESS);
  EXPECT_EQ(address % (64 * kUnit), 0u);
  EXPECT_EQ(memory.virtual_memory.Reserve(kUnit, 3 * kUnit, 0, &address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(memory.virtual_memory.Reserve(kUnit + 1, 0, 0, &address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(memory.virtual_memory.Reserve(uint64_t{1} << 62, 0, 0, &address),
            CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(VirtualMemoryTest, FreeWantsTheWholeRangeWithNothingInIt) {
  Memory memory;
  const uint64_t address = memory.Range(2 * kUnit);
  EXPECT_EQ(memory.virtual_memory.Free(address, kUnit), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(memory.virtual_memory.Free(address + kUnit, kUnit), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(memory.virtual_memory.Map(address, kUnit, memory.Block()), CUDA_SUCCESS);
  EXPECT_EQ(memory.virtual_memory.Free(address, 2 * kUnit), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(memory.virtual_memory.Unmap(address, kUnit), CUDA_SUCCESS);
  EXPECT_EQ(memory.virtual_memory.Free(address, 2 * kUnit), CUDA_SUCCESS);
}

TEST(VirtualMemoryTest, MapRefusesWhatDoesNotFit) {
  Memory memory;
  const uint64_t address = memory.Range(2 * kUnit);
  VirtualMemory& space = memory.virtual_memory;
  EXPECT_EQ(space.Map(address, 2 * kUnit, memory.Block()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(space.Map(address + 4096, kUnit, memory.Block()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(space.Map(address + 2 * kUnit, kUnit, memory.Block()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(space.Map(address, kUnit, memory.Block()), CUDA_SUCCESS);
  EXPECT_EQ(space.Map(address, kUnit, memory.Block()), CUDA_ERROR_INVALID_VALUE);
}

TEST(VirtualMemoryTest, MappingKeepsTheBlockAndItsBudget) {
  Memory memory;
  const uint64_t address = memory.Mapped(memory.Block());
  EXPECT_EQ(memory.device.free_bytes(0), 3 * kUnit);
  EXPECT_EQ(Bytes(address)[kUnit - 1], 0);
  Bytes(address)[kUnit - 1] = 9;
  ASSERT_EQ(memory.virtual_memory.Unmap(address, kUnit), CUDA_SUCCESS);
  EXPECT_EQ(memory.device.free_bytes(0), 4 * kUnit);
  EXPECT_EQ(memory.virtual_memory.Unmap(address, kUnit),
            CUDA_SUCCESS);  // nothing is there to unmap
}

TEST(VirtualMemoryTest, AccessIsTheWidestOfAllDevices) {
  Memory memory;
  const uint64_t address = memory.Mapped(memory.Block());
  ASSERT_EQ(memory.virtual_memory.SetAccess(address, kUnit, 1, Access::kRead), CUDA_SUCCESS);
  EXPECT_EQ(memory.regions.Check(address, 8, Access::kReadWrite), RangeState::kDevice);
  ASSERT_EQ(memory.virtual_memory.SetAccess(address, kUnit, 0, Access::kNone), CUDA_SUCCESS);
  EXPECT_EQ(memory.regions.Check(address, 8, Access::kReadWrite), RangeState::kInvalid);
  EXPECT_EQ(memory.regions.Check(address, 8, Access::kRead), RangeState::kDevice);
}

TEST(RegionMapTest, RangesBeyondARegionAreInvalid) {
  Memory memory;
  uint64_t address = 0;
  ASSERT_EQ(memory.plain.Allocate(0, 1000, nullptr, &address), CUDA_SUCCESS);
  EXPECT_EQ(memory.regions.Check(address, 1000, Access::kReadWrite), RangeState::kDevice);
  EXPECT_EQ(memory.regions.Check(address + 999, 1, Access::kReadWrite), RangeState::kDevice);
  EXPECT_EQ(memory.regions.Check(address, 1001, Access::kReadWrite), RangeState::kInvalid);
  EXPECT_EQ(memory.regions.Check(address, ~uint64_t{0}, Access::kReadWrite), RangeState::kInvalid);
  ASSERT_EQ(memory.plain.Free(address), CUDA_SUCCESS);
  EXPECT_EQ(memory.plain.Free(address), CUDA_ERROR_INVALID_VALUE);
}

TEST(RegionMapTest, MappingsThatTouchAreOneRange) {
  Memory memory;
  const uint64_t address = memory.Range(3 * kUnit);
  for (const uint64_t at : {address, address + kUnit}) {
    ASSERT_EQ(memory.virtual_memory.Map(at, kUnit, memory.Block()), CUDA_SUCCESS);
  }
  ASSERT_EQ(memory.virtual_memory.SetAccess(address, 2 * kUnit, 0, Access::kReadWrite),
            CUDA_SUCCESS);
  EXPECT_EQ(memory.regions.Check(address, 2 * kUnit, Access::kRead), RangeState::kDevice);
  EXPECT_EQ(memory.regions.Check(address, 2 * kUnit + 1, Access::kRead), RangeState::kInvalid);
  EXPECT_EQ(memory.regions.Check(address + 2 * kUnit, 1, Access::kRead), RangeState::kInvalid);
}

TEST(PlainMemoryTest, HostMemoryIsRegisteredOnce) {
  Memory memory;
  std::vector<char> bytes(100000);
  EXPECT_EQ(memory.plain.HostRegister(bytes.data(), bytes.size(), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(memory.plain.HostRegister(bytes.data() + 10, 10, nullptr),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(memory.plain.HostUnregister(bytes.data()), CUDA_SUCCESS);
  EXPECT_EQ(memory.plain.HostUnregister(bytes.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST(PlainMemoryTest, WildRangeIsNotRegistered) {
  Memory memory;
  EXPECT_EQ(memory.plain.HostRegister(Bytes(0x10000), 8, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(memory.plain.HostRegister(Bytes(~uint64_t{0} - 8), 100, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

// Runs `body` in a child process; its exit code.
int InChild(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(PlainMemoryTest, IpcHandleOpensInAnotherProcess) {
  Memory memory;
  uint64_t address = 0;
  ASSERT_EQ(memory.plain.Allocate(0, 5000, nullptr, &address), CUDA_SUCCESS);
  std::memset(Bytes(address), 7, 5000);
  CUipcMemHandle handle;
  ASSERT_EQ(memory.plain.IpcGet(address, &handle), CUDA_SUCCESS);
  EXPECT_EQ(memory.plain.IpcGet(address + 8, &handle), CUDA_ERROR_INVALID_VALUE);
  const int exit_code = InChild([&handle] {
    Memory child;
    uint64_t first = 0;
    uint64_t second = 0;
    if (child.plain.IpcOpen(handle, nullptr, &first) != CUDA_SUCCESS) return 1;
    if (child.plain.IpcOpen(handle, nullptr, &second) != CUDA_SUCCESS || first != second) return 2;
    if (Bytes(first)[4999] != 7) return 3;
    Bytes(first)[0] = 8;
    if (child.plain.IpcClose(first) != CUDA_SUCCESS) return 4;
    if (Bytes(first)[0] != 8) return 5;  // opened twice
    if (child.plain.IpcClose(first) != CUDA_SUCCESS) return 6;
    return child.plain.IpcClose(first) == CUDA_ERROR_INVALID_VALUE ? 0 : 7;
  });
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(Bytes(address)[0], 8);
}

TEST(PlainMemoryTest, WrongIpcHandlesAreRefused) {
  Memory memory;
  uint64_t address = 0;
  ASSERT_EQ(memory.plain.Allocate(0, 5000, nullptr, &address), CUDA_SUCCESS);
  CUipcMemHandle handle;
  ASSERT_EQ(memory.plain.IpcGet(address, &handle), CUDA_SUCCESS);
  EXPECT_EQ(memory.plain.IpcOpen(handle, nullptr, &address), CUDA_ERROR_INVALID_CONTEXT);
  const int exit_code = InChild([handle] {
    Memory child;
    uint64_t at = 0;
    CUipcMemHandle other_file = handle;
    other_file.reserved[16] = static_cast<char>(other_file.reserved[16] ^ 1);  // the inode
    if (child.plain.IpcOpen(other_file, nullptr, &at) != CUDA_ERROR_INVALID_HANDLE) return 1;
    CUipcMemHandle made_up = {};
    if (child.plain.IpcOpen(made_up, nullptr, &at) != CUDA_ERROR_INVALID_HANDLE) return 2;
    std::memset(made_up.reserved, 0x7f, sizeof(made_up.reserved));
    return child.plain.IpcOpen(made_up, nullptr, &at) == CUDA_ERROR_INVALID_HANDLE ? 0 : 3;
  });
  EXPECT_EQ(exit_code, 0);
}

CUDA_MEMCPY3D Box(uint64_t dst, uint64_t src) {
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = dst;
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = src;
  return copy;
}

TEST(MemoryActionsTest, BoxIsCopiedByRowAndSlice) {
  Memory memory;
  FaultPlan faults;
  uint64_t dst = 0;
  ASSERT_EQ(memory.plain.Allocate(0, 1000, nullptr, &dst), CUDA_SUCCESS);
  std::vector<unsigned char> src(4 * 5 * 6);  // slices of 5 rows of 6
  for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<unsigned char>(i);
  CUDA_MEMCPY3D copy = Box(dst, reinterpret_cast<uint64_t>(src.data()));
  copy.srcPitch = 6;
  copy.srcHeight = 5;
  copy.srcXInBytes = 1;
  copy.srcY = 2;
  copy.srcZ = 1;
  copy.dstPitch = 10;
  copy.dstHeight = 3;
  copy.WidthInBytes = 4;
  copy.Height = 2;
  copy.Depth = 3;
  ActionPtr action;
  ASSERT_EQ(MakeCopy3D(memory.regions, copy, &action), CUDA_SUCCESS);
  ASSERT_EQ(action->Run({memory.regions, faults}).error, CUDA_SUCCESS);
  for (int z = 0; z < 3; ++z) {
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 4; ++x) {
        EXPECT_EQ(Bytes(dst)[z * 30 + y * 10 + x], (z + 1) * 30 + (y + 2) * 6 + x + 1);
      }
    }
  }
}

TEST(MemoryActionsTest, BoxesThatDoNotFitAreRefused) {
  Memory memory;
  uint64_t dst = 0;
  ASSERT_EQ(memory.plain.Allocate(0, 64, nullptr, &dst), CUDA_SUCCESS);
  std::vector<unsigned char> src(64);
  CUDA_MEMCPY3D good = Box(dst, reinterpret_cast<uint64_t>(src.data()));
  good.srcPitch = good.dstPitch = 8;
  good.WidthInBytes = good.Height = 8;
  good.Depth = 1;
  ActionPtr action;
  ASSERT_EQ(MakeCopy3D(memory.regions, good, &action), CUDA_SUCCESS);
  const std::vector<std::function<void(CUDA_MEMCPY3D&)>> damages = {
      [](auto& copy) { copy.WidthInBytes = 0; },
      [](auto& copy) { copy.Height = 9; },
      [](auto& copy) { copy.dstXInBytes = 1; },
      [](auto& copy) { copy.dstPitch = 7; },
      [](auto& copy) { copy.dstPitch = ~size_t{0}; },
      [](auto& copy) { copy.dstY = ~size_t{0}; },
      [](auto& copy) { copy.Depth = 2; },
      [](auto& copy) { copy.srcLOD = 1; },
      [](auto& copy) { copy.srcMemoryType = CU_MEMORYTYPE_ARRAY; },
      [](auto& copy) { copy.srcDevice = 0; },
      [](auto& copy) { copy.srcDevice = 0x10000; },
      [](auto& copy) { copy.dstDevice += 1; },
  };
  for (size_t i = 0; i < damages.size(); ++i) {
    CUDA_MEMCPY3D copy = good;
    damages[i](copy);
    EXPECT_EQ(MakeCopy3D(memory.regions, copy, &action), CUDA_ERROR_INVALID_VALUE) << i;
  }
}

TEST(MemoryActionsTest, MemoryThatIsGoneWhenTheCopyRunsIsAFault) {
  Memory memory;
  FaultPlan faults;
  uint64_t dst = 0;
  ASSERT_EQ(memory.plain.Allocate(0, 64, nullptr, &dst), CUDA_SUCCESS);
  uint64_t value = 1;
  ActionPtr copy, fill, write;
  ASSERT_EQ(MakeCopy(memory.regions, {dst, Side::kDevice},
                     {reinterpret_cast<uint64_t>(&value), Side::kHost}, 8, &copy),
            CUDA_SUCCESS);
  ASSERT_EQ(MakeFill(memory.regions, {dst, 0, 0, 1, 64, 1}, &fill), CUDA_SUCCESS);
  ASSERT_EQ(MakeValueWrite(memory.regions, dst, 1, &write), CUDA_SUCCESS);
  ASSERT_EQ(memory.plain.Free(dst), CUDA_SUCCESS);
  for (const ActionPtr& action : {copy, fill, write}) {
    EXPECT_EQ(action->Run({memory.regions, faults}).error, CUDA_ERROR_ILLEGAL_ADDRESS);
  }
}

TEST(MemoryActionsTest, FillWritesRowsOfElements) {
  Memory memory;
  FaultPlan faults;
  uint64_t dst = 0;
  ASSERT_EQ(memory.plain.Allocate(0, 64, nullptr, &dst), CUDA_SUCCESS);
  ActionPtr fill;
  ASSERT_EQ(MakeFill(memory.regions, {dst, 16, 0x1234, 2, 3, 2}, &fill), CUDA_SUCCESS);
  ASSERT_EQ(fill->Run({memory.regions, faults}).error, CUDA_SUCCESS);
  const auto* words = reinterpret_cast<const uint16_t*>(dst);
  EXPECT_EQ(words[2], 0x1234);
  EXPECT_EQ(words[3], 0);
  EXPECT_EQ(words[8], 0x1234);
  EXPECT_EQ(words[11], 0);
}

TEST(MemoryActionsTest, FillsThatDoNotFitAreRefused) {
  Memory memory;
  uint64_t dst = 0;
  ASSERT_EQ(memory.plain.Allocate(0, 64, nullptr, &dst), CUDA_SUCCESS);
  ActionPtr fill;
  for (const CUDA_MEMSET_NODE_PARAMS& wrong : std::vector<CUDA_MEMSET_NODE_PARAMS>{
           {dst, 0, 0, 3, 1, 1},
           {dst + 1, 0, 0, 2, 1, 1},
           {dst, 0, 0, 1, 65, 1},
           {dst, 4, 0, 4, 2, 2},
           {dst, 32, 0, 1, 8, 3},
           {dst, ~size_t{0} & ~size_t{3}, 0, 4, 1, ~size_t{0} >> 20},
           {0, 0, 0, 1, 1, 1}}) {
    EXPECT_EQ(MakeFill(memory.regions, wrong, &fill), CUDA_ERROR_INVALID_VALUE);
  }
}

TEST(MemoryActionsTest, BoxesOfHugeExtentsAreRefused) {
  Memory memory;
  const uint64_t at = memory.Mapped(memory.Block());
  constexpr size_t kHuge = size_t{1} << 40;
  const auto make = [&](size_t width, size_t rows, size_t slices, size_t slice_rows) {
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = at;
    copy.dstDevice = at + kUnit / 2;
    copy.srcPitch = copy.dstPitch = 64;
    copy.srcHeight = copy.dstHeight = slice_rows;
    copy.WidthInBytes = width;
    copy.Height = rows;
    copy.Depth = slices;
    ActionPtr action;
    return MakeCopy3D(memory.regions, copy, &action);
  };
  EXPECT_EQ(make(16, 16, 2, 16), CUDA_SUCCESS);
  EXPECT_EQ(make(16, kHuge, 1, kHuge), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(16, 16, kHuge, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(16, 16, 2, kHuge), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(16, kHuge, kHuge, kHuge), CUDA_ERROR_INVALID_VALUE);
}

TEST(ManagedMemoryTest, PrefetchesAreForManagedRangesAlone) {
  Memory memory;
  uint64_t managed = 0;
  ASSERT_EQ(memory.plain.AllocateManaged(1000, nullptr, &managed), CUDA_SUCCESS);
  const uint64_t other = memory.Mapped(memory.Block());
  ActionPtr action;
  EXPECT_EQ(MakePrefetch(memory.regions, managed, 1000, &action), CUDA_SUCCESS);
  EXPECT_EQ(MakePrefetch(memory.regions, managed + 999, 1, &action), CUDA_SUCCESS);
  EXPECT_EQ(MakePrefetch(memory.regions, managed, 0, &action), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(MakePrefetch(memory.regions, managed + 999, 2, &action), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(MakePrefetch(memory.regions, managed + 1, UINT64_MAX, &action),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(MakePrefetch(memory.regions, other, 16, &action), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(memory.plain.Free(managed), CUDA_SUCCESS);
  EXPECT_EQ(MakePrefetch(memory.regions, managed, 1, &action), CUDA_ERROR_INVALID_VALUE);
}

TEST(ManagedMemoryTest, DoesNotCountAsTheDevices) {
  Memory memory;
  uint64_t managed = 0;
  ASSERT_EQ(memory.plain.AllocateManaged(8 * kUnit, nullptr, &managed), CUDA_SUCCESS);
  EXPECT_EQ(memory.device.free_bytes(0), 4 * kUnit);
  EXPECT_EQ(memory.plain.Free(managed), CUDA_SUCCESS);
  EXPECT_EQ(memory.plain.Free(managed), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::hostcuda
