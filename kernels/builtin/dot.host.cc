// CPU twins of dot.cu.
#include <algorithm>
#include <iterator>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/reduce_host.h"

namespace weft::kernels {
namespace {

template <typename T>
Sum<T> DotChunk(const T* a, const T* b, int64_t first, int64_t last) {
  ReduceLanes<Sum<T>, T> lanes{};
  constexpr auto kLanes = static_cast<int64_t>(lanes.size());
  for (int64_t row = first; row < last; row += kLanes) {
    const int64_t count = std::min(kLanes, last - row);
    for (int64_t lane = 0; lane < count; ++lane) {
      lanes[lane] = Plus(lanes[lane], Times(Load(a[row + lane]), Load(b[row + lane])));
    }
  }
  return CombineLanes<SumOp, Sum<T>, T>(lanes);
}

template <typename T>
void DotPartial(const T* a, const T* b, Sum<T>*, int64_t n, Sum<T>* partials) {
  const int64_t size = ChunkSize(n);
  for (int64_t chunk = 0; chunk < PartialCount(n); ++chunk) {
    partials[chunk] = DotChunk(a, b, std::min(n, chunk * size), std::min(n, (chunk + 1) * size));
  }
}

template <typename T>
void DotFinal(const T*, const T*, Sum<T>* dst, int64_t n, Sum<T>* partials) {
  dst[0] = ReduceChunk<SumOp, Sum<T>>(partials, 0, PartialCount(n));
}

#define WEFT_ENTRY(name, T)                                \
  HostEntry<&DotPartial<T>>("weft_dot_" #name "_partial"), \
      HostEntry<&DotFinal<T>>("weft_dot_" #name "_final"),

constexpr weft_host_kernel kEntries[] = {WEFT_FLOAT_TYPES(WEFT_ENTRY)};

}  // namespace

HostEntries DotEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
