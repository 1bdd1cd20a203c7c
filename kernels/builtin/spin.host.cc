// CPU twin of spin.cu.
#include <chrono>
#include <iterator>

#include "kernels/builtin/host_tables.h"

namespace weft::kernels {
namespace {

uint64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Spin(uint64_t* mark, int64_t ns) {
  const uint64_t start = Now();
  uint64_t now = start;
  while (now - start < static_cast<uint64_t>(ns)) now = Now();
  mark[0] = start;
  mark[1] = now;
}

constexpr weft_host_kernel kEntries[] = {HostEntry<&Spin>("weft_spin_u64")};

}  // namespace

HostEntries SpinEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
