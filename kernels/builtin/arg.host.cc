// CPU twins of arg.cu.
#include <algorithm>
#include <iterator>

#include "kernels/builtin/arg_math.h"
#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/host_tables.h"

namespace weft::kernels {
namespace {

template <Wanted kWanted, typename T>
void ArgPartial(const T* src, int64_t*, int64_t n, int64_t* places) {
  using C = Compute<T>;
  const int64_t size = ChunkSize(n);
  for (int64_t chunk = 0; chunk < PartialCount(n); ++chunk) {
    Candidate<C> best;
    const int64_t end = std::min(n, (chunk + 1) * size);
    for (int64_t i = chunk * size; i < end; ++i) {
      best = Better<kWanted>(best, Candidate<C>{Load(src[i]), i});
    }
    places[chunk] = best.place;
  }
}

template <Wanted kWanted, typename T>
void ArgFinal(const T* src, int64_t* dst, int64_t n, int64_t* places) {
  using C = Compute<T>;
  Candidate<C> best;
  for (int64_t i = 0; i < PartialCount(n); ++i) {
    if (places[i] == kNoPlace) continue;
    best = Better<kWanted>(best, Candidate<C>{Load(src[places[i]]), places[i]});
  }
  dst[0] = best.place;
}

#define WEFT_ARG_ENTRY(op, wanted, name, T)                            \
  HostEntry<&ArgPartial<wanted, T>>("weft_" #op "_" #name "_partial"), \
      HostEntry<&ArgFinal<wanted, T>>("weft_" #op "_" #name "_final"),
#define WEFT_ENTRY(name, T)                         \
  WEFT_ARG_ENTRY(argmax, Wanted::kLargest, name, T) \
  WEFT_ARG_ENTRY(argmin, Wanted::kSmallest, name, T)

constexpr weft_host_kernel kEntries[] = {WEFT_ARITHMETIC_TYPES(WEFT_ENTRY)};

}  // namespace

HostEntries ArgEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
