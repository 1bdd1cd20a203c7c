// CPU twins of gather.cu.
#include <algorithm>
#include <iterator>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/gather_math.h"
#include "kernels/builtin/host_tables.h"

namespace weft::kernels {
namespace {

using Winner = unsigned long long;

template <typename T, typename I>
void Gather(const T* src, const I* index, T* dst, int64_t size, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = InRange(index[i], size) ? src[index[i]] : T{0};
}

template <typename T, typename I>
void ClearWinners(const T*, const I*, T*, int64_t, int64_t size, Winner* winners) {
  std::fill(winners, winners + size, kKept);
}
// In order, so that the highest place is the last.
template <typename T, typename I>
void ClaimElements(const T*, const I* index, T*, int64_t n, int64_t size, Winner* winners) {
  for (int64_t i = 0; i < n; ++i) {
    if (InRange(index[i], size)) winners[index[i]] = static_cast<Winner>(i) + 1;
  }
}
template <typename T, typename I>
void MoveWinners(const T* src, const I*, T* dst, int64_t, int64_t size, Winner* winners) {
  for (int64_t i = 0; i < size; ++i) {
    if (winners[i] != kKept) dst[i] = src[winners[i] - 1];
  }
}

#define WEFT_INDEXED_ENTRY(name, T, index_name, I)                                     \
  HostEntry<&Gather<T, I>>("weft_gather_" #name "_" #index_name),                      \
      HostEntry<&ClearWinners<T, I>>("weft_scatter_" #name "_" #index_name "_clear"),  \
      HostEntry<&ClaimElements<T, I>>("weft_scatter_" #name "_" #index_name "_claim"), \
      HostEntry<&MoveWinners<T, I>>("weft_scatter_" #name "_" #index_name "_move"),
#define WEFT_ENTRY(name, T)                 \
  WEFT_INDEXED_ENTRY(name, T, b32, int32_t) \
  WEFT_INDEXED_ENTRY(name, T, b64, int64_t)

constexpr weft_host_kernel kEntries[] = {WEFT_WIDTHS(WEFT_ENTRY)};

}  // namespace

HostEntries GatherEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
