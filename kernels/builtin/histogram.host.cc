// CPU twins of histogram.cu.
#include <algorithm>
#include <iterator>

#include "kernels/builtin/host_tables.h"

namespace weft::kernels {
namespace {

template <typename T>
void Clear(const T*, uint32_t* counts, int64_t bins, int64_t) {
  std::fill(counts, counts + bins, 0u);
}
template <typename T>
void Count(const T* src, uint32_t* counts, int64_t bins, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const auto bin = static_cast<int64_t>(src[i]);
    if (bin >= 0 && bin < bins) ++counts[bin];
  }
}

constexpr weft_host_kernel kEntries[] = {
    HostEntry<&Clear<uint8_t>>("weft_histogram_u8_clear"),
    HostEntry<&Count<uint8_t>>("weft_histogram_u8_count"),
    HostEntry<&Clear<int32_t>>("weft_histogram_i32_clear"),
    HostEntry<&Count<int32_t>>("weft_histogram_i32_count"),
};

}  // namespace

HostEntries HistogramEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
