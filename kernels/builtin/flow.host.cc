// CPU twins of flow.cu.
#include <atomic>
#include <iterator>

#include "kernels/builtin/host_tables.h"

namespace weft::kernels {
namespace {

int32_t SetCondition(const weft_host_launch*, void* const* params,
                     const weft_host_runtime* runtime) {
  const uint64_t handle = *static_cast<const uint64_t*>(params[0]);
  const auto* value = *static_cast<const uint32_t* const*>(params[1]);
  runtime->set_conditional(handle, *value);
  return WEFT_HOST_OK;
}

void Signal(uint64_t* semaphore, uint64_t value) {
  std::atomic_ref<uint64_t> word(*semaphore);
  uint64_t now = word.load(std::memory_order_relaxed);
  // Also where the value stays: who sees it sees what came before this signal.
  while (!word.compare_exchange_weak(now, now < value ? value : now, std::memory_order_acq_rel)) {
  }
}

constexpr weft_host_param kSetConditionParams[] = {{0, 8}, {8, 8}};
constexpr weft_host_kernel kEntries[] = {
    {"weft_set_condition", &SetCondition, kSetConditionParams, 2, 0, 1},
    HostEntry<&Signal>("weft_signal_u64"),
};

}  // namespace

HostEntries FlowEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
