#include "cuda/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "base/error_context.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/cuda/fake_driver.h"

namespace weft::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::StatusIs;

// Every result of <cuda.h>; those that CUDA 12.6 did not have yet stand apart.
// clang-format off
#define WEFT_RESULTS(R) \
  R(INVALID_VALUE) R(OUT_OF_MEMORY) R(NOT_INITIALIZED) R(DEINITIALIZED) R(PROFILER_DISABLED) \
  R(PROFILER_NOT_INITIALIZED) R(PROFILER_ALREADY_STARTED) R(PROFILER_ALREADY_STOPPED) \
  R(STUB_LIBRARY) R(CALL_REQUIRES_NEWER_DRIVER) R(DEVICE_UNAVAILABLE) R(NO_DEVICE) \
  R(INVALID_DEVICE) R(DEVICE_NOT_LICENSED) R(INVALID_IMAGE) R(INVALID_CONTEXT) \
  R(CONTEXT_ALREADY_CURRENT) R(MAP_FAILED) R(UNMAP_FAILED) R(ARRAY_IS_MAPPED) R(ALREADY_MAPPED) \
  R(NO_BINARY_FOR_GPU) R(ALREADY_ACQUIRED) R(NOT_MAPPED) R(NOT_MAPPED_AS_ARRAY) \
  R(NOT_MAPPED_AS_POINTER) R(ECC_UNCORRECTABLE) R(UNSUPPORTED_LIMIT) R(CONTEXT_ALREADY_IN_USE) \
  R(PEER_ACCESS_UNSUPPORTED) R(INVALID_PTX) R(INVALID_GRAPHICS_CONTEXT) R(NVLINK_UNCORRECTABLE) \
  R(JIT_COMPILER_NOT_FOUND) R(UNSUPPORTED_PTX_VERSION) R(JIT_COMPILATION_DISABLED) \
  R(UNSUPPORTED_EXEC_AFFINITY) R(UNSUPPORTED_DEVSIDE_SYNC) R(INVALID_SOURCE) R(FILE_NOT_FOUND) \
  R(SHARED_OBJECT_SYMBOL_NOT_FOUND) R(SHARED_OBJECT_INIT_FAILED) R(OPERATING_SYSTEM) \
  R(INVALID_HANDLE) R(ILLEGAL_STATE) R(LOSSY_QUERY) R(NOT_FOUND) R(NOT_READY) \
  R(ILLEGAL_ADDRESS) R(LAUNCH_OUT_OF_RESOURCES) R(LAUNCH_TIMEOUT) \
  R(LAUNCH_INCOMPATIBLE_TEXTURING) R(PEER_ACCESS_ALREADY_ENABLED) R(PEER_ACCESS_NOT_ENABLED) \
  R(PRIMARY_CONTEXT_ACTIVE) R(CONTEXT_IS_DESTROYED) R(ASSERT) R(TOO_MANY_PEERS) \
  R(HOST_MEMORY_ALREADY_REGISTERED) R(HOST_MEMORY_NOT_REGISTERED) R(HARDWARE_STACK_ERROR) \
  R(ILLEGAL_INSTRUCTION) R(MISALIGNED_ADDRESS) R(INVALID_ADDRESS_SPACE) R(INVALID_PC) \
  R(LAUNCH_FAILED) R(COOPERATIVE_LAUNCH_TOO_LARGE) R(NOT_PERMITTED) R(NOT_SUPPORTED) \
  R(SYSTEM_NOT_READY) R(SYSTEM_DRIVER_MISMATCH) R(COMPAT_NOT_SUPPORTED_ON_DEVICE) \
  R(MPS_CONNECTION_FAILED) R(MPS_RPC_FAILURE) R(MPS_SERVER_NOT_READY) \
  R(MPS_MAX_CLIENTS_REACHED) R(MPS_MAX_CONNECTIONS_REACHED) R(MPS_CLIENT_TERMINATED) \
  R(CDP_NOT_SUPPORTED) R(CDP_VERSION_MISMATCH) R(STREAM_CAPTURE_UNSUPPORTED) \
  R(STREAM_CAPTURE_INVALIDATED) R(STREAM_CAPTURE_MERGE) R(STREAM_CAPTURE_UNMATCHED) \
  R(STREAM_CAPTURE_UNJOINED) R(STREAM_CAPTURE_ISOLATION) R(STREAM_CAPTURE_IMPLICIT) \
  R(CAPTURED_EVENT) R(STREAM_CAPTURE_WRONG_THREAD) R(TIMEOUT) R(GRAPH_EXEC_UPDATE_FAILURE) \
  R(EXTERNAL_DEVICE) R(INVALID_CLUSTER_SIZE) R(FUNCTION_NOT_LOADED) R(INVALID_RESOURCE_TYPE) \
  R(INVALID_RESOURCE_CONFIGURATION) R(UNKNOWN)
// clang-format on
#if CUDA_VERSION >= 13000
#define WEFT_NEWEST_RESULTS(R) R(CONTAINED) R(TENSOR_MEMORY_LEAK) R(KEY_ROTATION)
#else
#define WEFT_NEWEST_RESULTS(R)
#endif

TEST(StatusTest, TableNamesEveryResultOfTheHeader) {
#define WEFT_EXPECT_NAMED(name) EXPECT_EQ(ResultName(CUDA_ERROR_##name), "CUDA_ERROR_" #name);
  WEFT_RESULTS(WEFT_EXPECT_NAMED)
  WEFT_NEWEST_RESULTS(WEFT_EXPECT_NAMED)
#undef WEFT_EXPECT_NAMED
}

TEST(StatusTest, SuccessIsOk) {
  FakeDriver fake;
  EXPECT_OK(ResultToStatus(fake.table(), CUDA_SUCCESS, "cuInit"));
  EXPECT_EQ(CanonicalCode(CUDA_SUCCESS), absl::StatusCode::kOk);
}

TEST(StatusTest, ErrorTellsCallNameNumberAndDescription) {
  FakeDriver fake;
  fake.table().cuGetErrorString = [](CUresult, const char** text) {
    *text = "out of memory";
    return CUDA_SUCCESS;
  };
  EXPECT_THAT(ResultToStatus(fake.table(), CUDA_ERROR_OUT_OF_MEMORY, "cuMemCreate"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"));
}

TEST(StatusTest, UnknownResultIsNamedByTheDriver) {
  FakeDriver fake;
  fake.table().cuGetErrorName = [](CUresult, const char** text) {
    *text = "CUDA_ERROR_FROM_THE_FUTURE";
    return CUDA_SUCCESS;
  };
  EXPECT_THAT(ResultToStatus(fake.table(), static_cast<CUresult>(998), "cuInit"),
              StatusIs(absl::StatusCode::kUnknown, "cuInit: CUDA_ERROR_FROM_THE_FUTURE (998)"));
}

TEST(StatusTest, UnknownResultWithoutANameKeepsItsNumber) {
  const Driver empty;
  EXPECT_THAT(ResultToStatus(empty, static_cast<CUresult>(998), "cuInit"),
              StatusIs(absl::StatusCode::kUnknown, HasSubstr("(998)")));
}

TEST(StatusTest, ResultSurvivesAddedContext) {
  FakeDriver fake;
  const absl::Status status =
      ResultToStatus(fake.table(), CUDA_ERROR_ILLEGAL_ADDRESS, "cuStreamSynchronize");
  const absl::Status with_context = WithContext(status, {.job = "j", .node = "n", .argument = ""});
  EXPECT_EQ(ResultOf(with_context), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_TRUE(IsContextFatal(with_context));
}

TEST(StatusTest, OtherStatusesCarryNoResult) {
  EXPECT_EQ(ResultOf(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(ResultOf(absl::AbortedError("x")), std::nullopt);
  EXPECT_FALSE(IsContextFatal(absl::OkStatus()));
  EXPECT_FALSE(IsContextFatal(absl::AbortedError("x")));
}

TEST(StatusTest, FaultsOfKernelsEndTheContext) {
  for (const CUresult result :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ASSERT,
        CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ECC_UNCORRECTABLE}) {
    EXPECT_TRUE(IsContextFatal(result)) << ResultName(result);
  }
}

TEST(StatusTest, ErrorsOfOneCallLeaveTheContextAlive) {
  for (const CUresult result :
       {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_READY,
        CUDA_ERROR_NOT_FOUND, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_NOT_SUPPORTED,
        CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE}) {
    EXPECT_FALSE(IsContextFatal(result)) << ResultName(result);
  }
}

TEST(StatusTest, FailedReleaseIsCounted) {
  FakeDriver fake;
  ReportReleaseError(fake.table(), CUDA_SUCCESS, "cuMemRelease");
  EXPECT_EQ(fake.table().release_error_count, 0u);
  ReportReleaseError(fake.table(), CUDA_ERROR_INVALID_VALUE, "cuMemRelease");
  ReportReleaseError(fake.table(), CUDA_ERROR_ILLEGAL_ADDRESS, "cuMemRelease");
  EXPECT_EQ(fake.table().release_error_count, 2u);
}

}  // namespace
}  // namespace weft::cuda
