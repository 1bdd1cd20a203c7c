#include "cuda/status.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace weft::cuda {
namespace {

constexpr char kResultUrl[] = "weft.dev/cuda-result";

enum class After { kContextLives, kContextDead };

struct ResultEntry {
  int result;
  absl::string_view name;
  absl::StatusCode code;
  After after = After::kContextLives;
};

// Canonical codes, by who must act: the caller's value → INVALID_ARGUMENT; the state it is used in
// → FAILED_PRECONDITION; memory and other quantities → RESOURCE_EXHAUSTED; a kernel's fault →
// ABORTED (its launch and every other one of the context is lost); broken memory or links →
// DATA_LOSS; a service that may come back → UNAVAILABLE; not on this device or driver →
// UNIMPLEMENTED; what Weft itself got wrong → INTERNAL.
//
// The context is dead after the results of which the manual says "any further CUDA work will return
// the same error … the process must be terminated", after uncorrectable memory and link errors, and
// once the driver or the context is going away. Numbers are written out, since older toolkits lack
// the newest names. Sorted by number.
using Code = absl::StatusCode;
constexpr After kDead = After::kContextDead;
constexpr std::array kResults = {
    ResultEntry{1, "CUDA_ERROR_INVALID_VALUE", Code::kInvalidArgument},
    ResultEntry{2, "CUDA_ERROR_OUT_OF_MEMORY", Code::kResourceExhausted},
    ResultEntry{3, "CUDA_ERROR_NOT_INITIALIZED", Code::kInternal},
    ResultEntry{4, "CUDA_ERROR_DEINITIALIZED", Code::kUnavailable, kDead},
    ResultEntry{5, "CUDA_ERROR_PROFILER_DISABLED", Code::kFailedPrecondition},
    ResultEntry{6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED", Code::kFailedPrecondition},
    ResultEntry{7, "CUDA_ERROR_PROFILER_ALREADY_STARTED", Code::kFailedPrecondition},
    ResultEntry{8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED", Code::kFailedPrecondition},
    ResultEntry{34, "CUDA_ERROR_STUB_LIBRARY", Code::kFailedPrecondition},
    ResultEntry{36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", Code::kUnimplemented},
    ResultEntry{46, "CUDA_ERROR_DEVICE_UNAVAILABLE", Code::kUnavailable},
    ResultEntry{100, "CUDA_ERROR_NO_DEVICE", Code::kNotFound},
    ResultEntry{101, "CUDA_ERROR_INVALID_DEVICE", Code::kInvalidArgument},
    ResultEntry{102, "CUDA_ERROR_DEVICE_NOT_LICENSED", Code::kFailedPrecondition},
    ResultEntry{200, "CUDA_ERROR_INVALID_IMAGE", Code::kInvalidArgument},
    ResultEntry{201, "CUDA_ERROR_INVALID_CONTEXT", Code::kInternal},
    ResultEntry{202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", Code::kInternal},
    ResultEntry{205, "CUDA_ERROR_MAP_FAILED", Code::kInternal},
    ResultEntry{206, "CUDA_ERROR_UNMAP_FAILED", Code::kInternal},
    ResultEntry{207, "CUDA_ERROR_ARRAY_IS_MAPPED", Code::kFailedPrecondition},
    ResultEntry{208, "CUDA_ERROR_ALREADY_MAPPED", Code::kAlreadyExists},
    ResultEntry{209, "CUDA_ERROR_NO_BINARY_FOR_GPU", Code::kFailedPrecondition},
    ResultEntry{210, "CUDA_ERROR_ALREADY_ACQUIRED", Code::kFailedPrecondition},
    ResultEntry{211, "CUDA_ERROR_NOT_MAPPED", Code::kFailedPrecondition},
    ResultEntry{212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", Code::kFailedPrecondition},
    ResultEntry{213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER", Code::kFailedPrecondition},
    ResultEntry{214, "CUDA_ERROR_ECC_UNCORRECTABLE", Code::kDataLoss, kDead},
    ResultEntry{215, "CUDA_ERROR_UNSUPPORTED_LIMIT", Code::kUnimplemented},
    ResultEntry{216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", Code::kInternal},
    ResultEntry{217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", Code::kUnimplemented},
    ResultEntry{218, "CUDA_ERROR_INVALID_PTX", Code::kInvalidArgument},
    ResultEntry{219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", Code::kInternal},
    ResultEntry{220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", Code::kDataLoss, kDead},
    ResultEntry{221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", Code::kFailedPrecondition},
    ResultEntry{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", Code::kFailedPrecondition},
    ResultEntry{223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", Code::kFailedPrecondition},
    ResultEntry{224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", Code::kUnimplemented},
    ResultEntry{225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", Code::kUnimplemented},
    ResultEntry{226, "CUDA_ERROR_CONTAINED", Code::kAborted, kDead},
    ResultEntry{300, "CUDA_ERROR_INVALID_SOURCE", Code::kInvalidArgument},
    ResultEntry{301, "CUDA_ERROR_FILE_NOT_FOUND", Code::kNotFound},
    ResultEntry{302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", Code::kFailedPrecondition},
    ResultEntry{303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", Code::kFailedPrecondition},
    ResultEntry{304, "CUDA_ERROR_OPERATING_SYSTEM", Code::kInternal},
    ResultEntry{400, "CUDA_ERROR_INVALID_HANDLE", Code::kInvalidArgument},
    ResultEntry{401, "CUDA_ERROR_ILLEGAL_STATE", Code::kFailedPrecondition},
    ResultEntry{402, "CUDA_ERROR_LOSSY_QUERY", Code::kUnimplemented},
    ResultEntry{500, "CUDA_ERROR_NOT_FOUND", Code::kNotFound},
    ResultEntry{600, "CUDA_ERROR_NOT_READY", Code::kUnavailable},
    ResultEntry{700, "CUDA_ERROR_ILLEGAL_ADDRESS", Code::kAborted, kDead},
    ResultEntry{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", Code::kResourceExhausted},
    ResultEntry{702, "CUDA_ERROR_LAUNCH_TIMEOUT", Code::kAborted, kDead},
    ResultEntry{703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", Code::kInvalidArgument},
    ResultEntry{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", Code::kAlreadyExists},
    ResultEntry{705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", Code::kFailedPrecondition},
    ResultEntry{708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", Code::kFailedPrecondition},
    ResultEntry{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", Code::kUnavailable, kDead},
    ResultEntry{710, "CUDA_ERROR_ASSERT", Code::kAborted, kDead},
    ResultEntry{711, "CUDA_ERROR_TOO_MANY_PEERS", Code::kResourceExhausted},
    ResultEntry{712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", Code::kAlreadyExists},
    ResultEntry{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", Code::kFailedPrecondition},
    ResultEntry{714, "CUDA_ERROR_HARDWARE_STACK_ERROR", Code::kAborted, kDead},
    ResultEntry{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", Code::kAborted, kDead},
    ResultEntry{716, "CUDA_ERROR_MISALIGNED_ADDRESS", Code::kAborted, kDead},
    ResultEntry{717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", Code::kAborted, kDead},
    ResultEntry{718, "CUDA_ERROR_INVALID_PC", Code::kAborted, kDead},
    ResultEntry{719, "CUDA_ERROR_LAUNCH_FAILED", Code::kAborted, kDead},
    ResultEntry{720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", Code::kInvalidArgument},
    ResultEntry{721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", Code::kAborted, kDead},
    ResultEntry{800, "CUDA_ERROR_NOT_PERMITTED", Code::kFailedPrecondition},
    ResultEntry{801, "CUDA_ERROR_NOT_SUPPORTED", Code::kUnimplemented},
    ResultEntry{802, "CUDA_ERROR_SYSTEM_NOT_READY", Code::kUnavailable},
    ResultEntry{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", Code::kFailedPrecondition},
    ResultEntry{804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", Code::kFailedPrecondition},
    ResultEntry{805, "CUDA_ERROR_MPS_CONNECTION_FAILED", Code::kUnavailable},
    ResultEntry{806, "CUDA_ERROR_MPS_RPC_FAILURE", Code::kUnavailable, kDead},
    ResultEntry{807, "CUDA_ERROR_MPS_SERVER_NOT_READY", Code::kUnavailable},
    ResultEntry{808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", Code::kResourceExhausted},
    ResultEntry{809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", Code::kResourceExhausted},
    ResultEntry{810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", Code::kAborted, kDead},
    ResultEntry{811, "CUDA_ERROR_CDP_NOT_SUPPORTED", Code::kUnimplemented},
    ResultEntry{812, "CUDA_ERROR_CDP_VERSION_MISMATCH", Code::kFailedPrecondition},
    ResultEntry{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", Code::kFailedPrecondition},
    ResultEntry{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", Code::kFailedPrecondition},
    ResultEntry{902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", Code::kFailedPrecondition},
    ResultEntry{903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", Code::kFailedPrecondition},
    ResultEntry{904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", Code::kFailedPrecondition},
    ResultEntry{905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", Code::kFailedPrecondition},
    ResultEntry{906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", Code::kFailedPrecondition},
    ResultEntry{907, "CUDA_ERROR_CAPTURED_EVENT", Code::kFailedPrecondition},
    ResultEntry{908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", Code::kFailedPrecondition},
    ResultEntry{909, "CUDA_ERROR_TIMEOUT", Code::kDeadlineExceeded},
    ResultEntry{910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", Code::kFailedPrecondition},
    ResultEntry{911, "CUDA_ERROR_EXTERNAL_DEVICE", Code::kAborted, kDead},
    ResultEntry{912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", Code::kInvalidArgument},
    ResultEntry{913, "CUDA_ERROR_FUNCTION_NOT_LOADED", Code::kFailedPrecondition},
    ResultEntry{914, "CUDA_ERROR_INVALID_RESOURCE_TYPE", Code::kInvalidArgument},
    ResultEntry{915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", Code::kInvalidArgument},
    ResultEntry{916, "CUDA_ERROR_KEY_ROTATION", Code::kUnavailable},
    ResultEntry{999, "CUDA_ERROR_UNKNOWN", Code::kUnknown, kDead},
};
static_assert(std::is_sorted(kResults.begin(), kResults.end(),
                             [](const ResultEntry& a, const ResultEntry& b) {
                               return a.result < b.result;
                             }));

// Null for CUDA_SUCCESS and for codes newer than the table.
const ResultEntry* FindEntry(CUresult result) {
  const auto at =
      std::lower_bound(kResults.begin(), kResults.end(), static_cast<int>(result),
                       [](const ResultEntry& entry, int wanted) { return entry.result < wanted; });
  if (at == kResults.end() || at->result != static_cast<int>(result)) return nullptr;
  return &*at;
}

std::string NameFromDriver(const Driver& driver, CUresult result) {
  const char* name = nullptr;
  if (driver.cuGetErrorName == nullptr || driver.cuGetErrorName(result, &name) != CUDA_SUCCESS ||
      name == nullptr) {
    return "an error that this driver cannot name";
  }
  return name;
}

std::string Describe(const Driver& driver, CUresult result, absl::string_view call) {
  const absl::string_view known = ResultName(result);
  std::string text =
      absl::StrCat(call, ": ", known.empty() ? NameFromDriver(driver, result) : std::string(known),
                   " (", static_cast<int>(result), ")");
  const char* description = nullptr;
  if (driver.cuGetErrorString != nullptr &&
      driver.cuGetErrorString(result, &description) == CUDA_SUCCESS && description != nullptr) {
    absl::StrAppend(&text, ": ", description);
  }
  return text;
}

}  // namespace

absl::string_view ResultName(CUresult result) {
  if (result == CUDA_SUCCESS) return "CUDA_SUCCESS";
  const ResultEntry* entry = FindEntry(result);
  return entry == nullptr ? absl::string_view() : entry->name;
}

absl::StatusCode CanonicalCode(CUresult result) {
  if (result == CUDA_SUCCESS) return absl::StatusCode::kOk;
  const ResultEntry* entry = FindEntry(result);
  return entry == nullptr ? absl::StatusCode::kUnknown : entry->code;
}

absl::Status ResultToStatus(const Driver& driver, CUresult result, absl::string_view call) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  absl::Status status(CanonicalCode(result), Describe(driver, result, call));
  status.SetPayload(kResultUrl, absl::Cord(absl::StrCat(static_cast<int>(result))));
  return status;
}

std::optional<CUresult> ResultOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kResultUrl);
  int number = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &number)) return {};
  return static_cast<CUresult>(number);
}

bool IsContextFatal(CUresult result) {
  const ResultEntry* entry = FindEntry(result);
  return entry != nullptr && entry->after == After::kContextDead;
}

bool IsContextFatal(const absl::Status& status) {
  const std::optional<CUresult> result = ResultOf(status);
  return result.has_value() && IsContextFatal(*result);
}

void ReportReleaseError(const Driver& driver, CUresult result, absl::string_view call) {
  if (result == CUDA_SUCCESS) return;
  driver.release_error_count.fetch_add(1, std::memory_order_relaxed);
  if (IsContextFatal(result)) return;
  log::Error("a driver object could not be released", {{"error", Describe(driver, result, call)}});
}

}  // namespace weft::cuda
