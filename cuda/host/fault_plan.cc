#include "cuda/host/fault_plan.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cuda/host/error_names.h"

namespace weft::hostcuda {
namespace {

constexpr const char* kFunctionNames[] = {
#define WEFT_DRIVER_FUNCTION(name, version) #name,
#define WEFT_DRIVER_OPTIONAL(name, version) #name,
#include "cuda/driver_functions.inc"
#undef WEFT_DRIVER_FUNCTION
#undef WEFT_DRIVER_OPTIONAL
};

std::optional<ApiFunction> FunctionByName(absl::string_view name) {
  for (size_t i = 0; i < static_cast<size_t>(ApiFunction::kCount); ++i) {
    if (name == kFunctionNames[i]) return static_cast<ApiFunction>(i);
  }
  return std::nullopt;
}

absl::Status NoSuchResult(absl::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is no CUresult (without CUDA_ERROR_), such as OUT_OF_MEMORY"));
}

// Splits `text` at its last colon; false when there is none.
bool SplitLast(absl::string_view text, absl::string_view* head, absl::string_view* tail) {
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return false;
  *head = text.substr(0, colon);
  *tail = text.substr(colon + 1);
  return true;
}

}  // namespace

FaultPlan::FaultPlan() {
  for (std::atomic<uint64_t>& count : calls_) count.store(0, std::memory_order_relaxed);
}

absl::Status FaultPlan::Add(absl::string_view text) {
  constexpr absl::string_view kKernel = "kernel:";
  absl::string_view head, last;
  if (!SplitLast(text, &head, &last)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "fault \"", text,
        "\" is neither FUNCTION:NUMBER:ERROR nor kernel:NAME:ERROR or kernel:NAME:HANG"));
  }
  if (text.substr(0, kKernel.size()) == kKernel) {
    if (head.size() <= kKernel.size()) {
      return absl::InvalidArgumentError(absl::StrCat("fault \"", text, "\" names no kernel"));
    }
    return AddKernelFault(head.substr(kKernel.size()), last);
  }
  absl::string_view function, call;
  if (!SplitLast(head, &function, &call)) {
    return absl::InvalidArgumentError(
        absl::StrCat("fault \"", text, "\" lacks the number of the call: FUNCTION:NUMBER:ERROR"));
  }
  return AddCallFault(function, call, last);
}

absl::Status FaultPlan::AddCallFault(absl::string_view function, absl::string_view call,
                                     absl::string_view error) {
  CallFault fault{};
  const std::optional<ApiFunction> found = FunctionByName(function);
  if (!found.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("fault: \"", function, "\" is no function of the driver that Weft uses"));
  }
  fault.function = *found;
  if (!absl::SimpleAtoi(call, &fault.call) || fault.call == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("fault: \"", call, "\" is no number of a call; the first call is 1"));
  }
  const std::optional<CUresult> result = ErrorByShortName(error);
  if (!result.has_value()) return NoSuchResult(error);
  fault.error = *result;
  call_faults_.push_back(fault);
  return absl::OkStatus();
}

absl::Status FaultPlan::AddKernelFault(absl::string_view kernel, absl::string_view outcome) {
  uint64_t run = 0;
  absl::string_view name, number;
  if (SplitLast(kernel, &name, &number) && absl::SimpleAtoi(number, &run) && run > 0) {
    kernel = name;
  } else {
    run = 0;
  }
  Outcome result;
  if (outcome == "HANG") {
    result.never_ends = true;
  } else {
    const std::optional<CUresult> error = ErrorByShortName(outcome);
    if (!error.has_value()) return NoSuchResult(outcome);
    result.error = *error;
  }
  KernelFault& fault = kernel_faults_[std::string(kernel)];
  fault.run = run;
  fault.outcome = result;
  return absl::OkStatus();
}

CUresult FaultPlan::OnCall(ApiFunction function) {
  if (call_faults_.empty()) return CUDA_SUCCESS;
  const uint64_t call = 1 + calls_[static_cast<size_t>(function)].fetch_add(1);
  for (const CallFault& fault : call_faults_) {
    if (fault.function == function && fault.call == call) return fault.error;
  }
  return CUDA_SUCCESS;
}

Outcome FaultPlan::OnKernel(const char* name) {
  if (kernel_faults_.empty()) return Outcome{};
  const auto found = kernel_faults_.find(absl::string_view(name));
  if (found == kernel_faults_.end()) return Outcome{};
  const uint64_t run = 1 + found->second.runs.fetch_add(1);
  if (found->second.run != 0 && found->second.run != run) return Outcome{};
  return found->second.outcome;
}

bool IsStickyError(CUresult error) {
  switch (error) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
      return true;
    default:
      return false;
  }
}

}  // namespace weft::hostcuda
