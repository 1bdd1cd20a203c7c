// Entries of the host image's table, made from typed functions with the parameters of the CUDA kernel they stand for.
//
//   void Axpy(const float* x, float* y, float a, int64_t n);
//   HostEntry<&Axpy>("weft_axpy_f32")
//
// A twin carries out the whole launch by itself; it does not look at the launch's shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "cuda/host/image_abi.h"

namespace weft::kernels {

// A part of the table.
struct HostEntries {
  const weft_host_kernel* entries;
  uint32_t count;
};

namespace host_entry_internal {

template <auto kFunction>
struct Adapter;

template <typename... A, void (*kFunction)(A...)>
struct Adapter<kFunction> {
  template <size_t... I>
  static void Call(void* const* params, std::index_sequence<I...>) {
    kFunction(*static_cast<A*>(params[I])...);
  }
  static int32_t Run(const weft_host_launch*, void* const* params, const weft_host_runtime*) {
    Call(params, std::index_sequence_for<A...>());
    return WEFT_HOST_OK;
  }
  static constexpr std::array<weft_host_param, sizeof...(A)> Layout() {
    constexpr uint32_t sizes[] = {sizeof(A)...};
    std::array<weft_host_param, sizeof...(A)> layout{};
    uint32_t end = 0;
    for (size_t i = 0; i < sizeof...(A); ++i) {
      const uint32_t offset = (end + sizes[i] - 1) / sizes[i] * sizes[i];
      layout[i] = {offset, sizes[i]};
      end = offset + sizes[i];
    }
    return layout;
  }
  static constexpr std::array<weft_host_param, sizeof...(A)> kLayout = Layout();
};

}  // namespace host_entry_internal

template <auto kFunction>
constexpr weft_host_kernel HostEntry(const char* name) {
  using Adapter = host_entry_internal::Adapter<kFunction>;
  return {name,
          &Adapter::Run,
          Adapter::kLayout.data(),
          static_cast<uint32_t>(Adapter::kLayout.size()),
          0,
          0};
}

}  // namespace weft::kernels
