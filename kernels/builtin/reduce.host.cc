// CPU twins of reduce.cu.
#include <algorithm>
#include <iterator>

#include "kernels/builtin/dtype_list.h"
#include "kernels/builtin/host_tables.h"
#include "kernels/builtin/reduce_host.h"

namespace weft::kernels {
namespace {

template <typename Op, typename T>
void Partial(const T* src, ResultOf<Op, T>*, int64_t n, AccumulatorOf<Op, T>* partials) {
  const int64_t size = ChunkSize(n);
  for (int64_t chunk = 0; chunk < PartialCount(n); ++chunk) {
    partials[chunk] = ReduceChunk<Op, AccumulatorOf<Op, T>>(src, std::min(n, chunk * size),
                                                            std::min(n, (chunk + 1) * size));
  }
}

template <typename Op, typename T>
void Final(const T*, ResultOf<Op, T>* dst, int64_t n, AccumulatorOf<Op, T>* partials) {
  const auto value = ReduceChunk<Op, AccumulatorOf<Op, T>>(partials, 0, PartialCount(n));
  dst[0] = Op::template Finish<T>(value);
}

#define WEFT_OP_ENTRY(op, Op, name, T)                                 \
  HostEntry<&Partial<Op, T>>("weft_reduce_" #op "_" #name "_partial"), \
      HostEntry<&Final<Op, T>>("weft_reduce_" #op "_" #name "_final"),
#define WEFT_ENTRY(name, T)          \
  WEFT_OP_ENTRY(sum, SumOp, name, T) \
  WEFT_OP_ENTRY(min, MinOp, name, T) WEFT_OP_ENTRY(max, MaxOp, name, T)

constexpr weft_host_kernel kEntries[] = {WEFT_ARITHMETIC_TYPES(WEFT_ENTRY)};

}  // namespace

HostEntries ReduceEntries() { return {kEntries, std::size(kEntries)}; }

}  // namespace weft::kernels
