// Memory between processes: descriptors of allocations, and legacy handles.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "cuda/memory.h"
#include "tests/conformance/conformance_test.h"
#include "tests/conformance/ipc_child.h"

namespace weft::conformance {
namespace {

using ::testing::SizeIs;

class IpcConformance : public ConformanceTest {
 protected:
  ChildProcess StartChild() const {
    return ChildProcess::Start(ConformanceEnvironment::Get().profile()).value();
  }
  // How many of the bytes are not `byte`.
  int64_t OthersThan(uint8_t byte, CUdeviceptr address, size_t size) const {
    const std::vector<uint8_t> bytes = Read<uint8_t>(address, size);
    return static_cast<int64_t>(size) - std::count(bytes.begin(), bytes.end(), byte);
  }
  absl::Status Fill(CUdeviceptr address, size_t size, uint8_t byte) const {
    return Write(address, std::vector<uint8_t>(size, byte));
  }
  static CUipcMemHandle LegacyHandle(const transport::FdMessage& message) {
    CUipcMemHandle handle = {};
    EXPECT_EQ(message.body.size(), sizeof handle.reserved);
    std::memcpy(handle.reserved, message.body.data(),
                std::min(message.body.size(), sizeof handle.reserved));
    return handle;
  }
};

TEST_F(IpcConformance, AnotherProcessSharesAnAllocation) {
  const size_t size = granularity();
  ASSERT_OK_AND_ASSIGN(const cuda::Allocation memory, cuda::Allocation::Create(context(), size));
  ASSERT_OK_AND_ASSIGN(const cuda::AddressRange range,
                       cuda::AddressRange::Reserve(context(), size));
  ASSERT_OK_AND_ASSIGN(const cuda::Mapping mapping,
                       cuda::Mapping::Create(context(), range.address(), memory));
  ASSERT_OK(Fill(mapping.address(), size, kParentByte));
  ASSERT_OK_AND_ASSIGN(const UniqueFd fd, memory.ExportFd());
  ChildProcess child = StartChild();
  ASSERT_OK(child.Do(ChildTask::kReadAndWrite, {}, {fd.get()}));
  EXPECT_EQ(OthersThan(kChildByte, mapping.address(), size), 0);
}

// What a restarted executor does: the memory comes back at the address that launches name.
TEST_F(IpcConformance, AnotherProcessMapsAtTheSameAddress) {
  // Far from where Linux puts programs and libraries, which differs between the two processes.
#ifdef __SANITIZE_THREAD__
  constexpr CUdeviceptr kAddress = 0x5500'0000'0000;  // below programs; it allows few others
#else
  constexpr CUdeviceptr kAddress = 0x2000'0000'0000;
#endif
  const size_t size = granularity();
  CUdeviceptr address = 0;
  UniqueFd fd;
  {
    ASSERT_OK_AND_ASSIGN(const cuda::Allocation memory, cuda::Allocation::Create(context(), size));
    ASSERT_OK_AND_ASSIGN(const cuda::AddressRange range,
                         cuda::AddressRange::ReserveAt(context(), kAddress, size));
    ASSERT_OK_AND_ASSIGN(const cuda::Mapping mapping,
                         cuda::Mapping::Create(context(), range.address(), memory));
    address = range.address();
    ASSERT_OK(Fill(address, size, kParentByte));
    ASSERT_OK_AND_ASSIGN(fd, memory.ExportFd());
  }
  transport::FdMessage message;
  message.tag = address;
  ChildProcess child = StartChild();
  EXPECT_OK(child.Do(ChildTask::kReadAndWriteAt, message, {fd.get()}));
}

TEST_F(IpcConformance, MemoryOutlivesItsKilledMaker) {
  ChildProcess child = StartChild();
  ASSERT_OK_AND_ASSIGN(const transport::FdMessage done, child.Do(ChildTask::kExport, {}));
  ASSERT_THAT(done.fds, SizeIs(1));
  child.Kill();
  const size_t size = granularity();
  ASSERT_OK_AND_ASSIGN(const cuda::Allocation memory,
                       cuda::Allocation::ImportFd(context(), done.fds[0].get(), size));
  ASSERT_OK_AND_ASSIGN(const cuda::AddressRange range,
                       cuda::AddressRange::Reserve(context(), size));
  ASSERT_OK_AND_ASSIGN(const cuda::Mapping mapping,
                       cuda::Mapping::Create(context(), range.address(), memory));
  EXPECT_EQ(OthersThan(kChildByte, mapping.address(), size), 0);
}

TEST_F(IpcConformance, AnotherProcessOpensALegacyHandle) {
  const cuda::ScopedContext current(context());
  CUdeviceptr memory = 0;
  ASSERT_EQ(driver().cuMemAlloc(&memory, kLegacySize), CUDA_SUCCESS);
  ASSERT_OK(Fill(memory, kLegacySize, kParentByte));
  CUipcMemHandle handle = {};
  ASSERT_EQ(driver().cuIpcGetMemHandle(&handle, memory), CUDA_SUCCESS);
  transport::FdMessage message;
  message.body.assign(handle.reserved, sizeof handle.reserved);
  ChildProcess child = StartChild();
  EXPECT_OK(child.Do(ChildTask::kLegacyOpen, message));
  EXPECT_EQ(OthersThan(kChildByte, memory, kLegacySize), 0);
  EXPECT_EQ(driver().cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(IpcConformance, OpenLegacyHandleOutlivesItsKilledMaker) {
  const cuda::ScopedContext current(context());
  ChildProcess child = StartChild();
  ASSERT_OK_AND_ASSIGN(const transport::FdMessage done, child.Do(ChildTask::kLegacyExport, {}));
  const CUipcMemHandle handle = LegacyHandle(done);
  CUdeviceptr memory = 0;
  ASSERT_EQ(driver().cuIpcOpenMemHandle(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
            CUDA_SUCCESS);
  child.Kill();
  EXPECT_EQ(OthersThan(kChildByte, memory, kLegacySize), 0);
  EXPECT_EQ(driver().cuIpcCloseMemHandle(memory), CUDA_SUCCESS);
}

TEST_F(IpcConformance, LegacyHandleOfADeadProcessIsRefused) {
  const cuda::ScopedContext current(context());
  ChildProcess child = StartChild();
  ASSERT_OK_AND_ASSIGN(const transport::FdMessage done, child.Do(ChildTask::kLegacyExport, {}));
  const CUipcMemHandle handle = LegacyHandle(done);
  child.Kill();
  CUdeviceptr memory = 0;
  EXPECT_NE(driver().cuIpcOpenMemHandle(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
            CUDA_SUCCESS);
}

// In a process of its own, since a GPU may end the context over it.
TEST_F(IpcConformance, CopyFromAnUnmappedAddressIsAnError) {
  ChildProcess child = StartChild();
  ASSERT_OK_AND_ASSIGN(const transport::FdMessage done, child.Do(ChildTask::kCopyFromUnmapped, {}));
  EXPECT_NE(done.tag, static_cast<uint64_t>(CUDA_SUCCESS));
}

}  // namespace
}  // namespace weft::conformance
