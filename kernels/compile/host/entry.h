// The image's table, made from kernels and from symbols.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <utility>

#include "cuda/host/image_abi.h"
#include "kernels/compile/host/threads.h"

namespace weft_on_host {

// Parameters lie as in a struct of them, which is how CUDA packs them. The first, to have an array of at least one.
template <typename... A>
struct Layout {
  weft_host_param params[sizeof...(A) + 1] = {};

  constexpr Layout() {
    const uint32_t sizes[] = {0, sizeof(A)...};
    const uint32_t alignments[] = {1, alignof(A)...};
    uint32_t end = 0;
    for (size_t i = 0; i < sizeof...(A); ++i) {
      const uint32_t alignment = alignments[i + 1];
      const uint32_t offset = (end + alignment - 1) / alignment * alignment;
      params[i] = {offset, sizes[i + 1]};
      end = offset + sizes[i + 1];
    }
  }
};

template <typename T>
inline constexpr bool kIsReference = false;
template <typename T>
inline constexpr bool kIsReference<T&> = true;
template <typename T>
inline constexpr bool kIsReference<T&&> = true;

template <typename F, F kKernel>
struct Entry {
  static_assert(sizeof(F) == 0, "an entry is a __global__ function that returns void");
};

template <typename... A, void (*kKernel)(A...)>
struct Entry<void (*)(A...), kKernel> {
  static_assert((true && ... && !kIsReference<A>), "a kernel's parameters are values");
  static constexpr Layout<A...> kLayout = {};

  template <size_t... I>
  static void Call(void* const* params, std::index_sequence<I...>) {
    kKernel(*static_cast<A*>(params[I])...);
  }
  static void Thread(const weft_host_thread* self, void* params) {
    current = self;
    Call(static_cast<void* const*>(params), std::index_sequence_for<A...>());
  }
  static int32_t Run(const weft_host_launch* launch, void* const* params,
                     const weft_host_runtime* runtime) {
    return runtime->run_threads(launch, &Thread, const_cast<void**>(params));
  }
  static constexpr weft_host_kernel Row(const char* name) {
    return {name, &Run, kLayout.params, sizeof...(A), 0, 0};
  }
};

// A __device__ or __constant__ variable of the source. Static objects, so that they stand before anyone asks.
class Global {
 public:
  Global(const char* name, const volatile void* address, size_t size)
      : row_{name, const_cast<void*>(address), size}, next_(first_) {
    first_ = this;
  }

  // Writes them to `rows`; how many there are.
  static uint32_t List(weft_host_global* rows) {
    uint32_t count = 0;
    for (const Global* global = first_; global != nullptr; global = global->next_)
      rows[count++] = global->row_;
    return count;
  }

 private:
  weft_host_global row_;
  Global* next_;
  static inline Global* first_ = nullptr;
};

}  // namespace weft_on_host
