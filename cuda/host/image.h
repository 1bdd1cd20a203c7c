// A module image (image_abi.h) loaded into this process.
#pragma once

#include <memory>
#include <utility>

#include "base/unique_fd.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/image_abi.h"

namespace weft::hostcuda {

// Stays loaded until the last function of it that is queued or in a graph is gone.
// Thread safety: immutable.
class Image {
 public:
  // `bytes`: an ELF shared object. Expensive: copies it and runs the dynamic loader.
  // Errors: those of CopyElfImage; INVALID_IMAGE when it cannot be loaded or its table is wrong.
  static CUresult Load(const void* bytes, std::shared_ptr<const Image>* image);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  // Null when there is none of that name.
  const weft_host_kernel* FindKernel(const char* name) const;
  const weft_host_global* FindGlobal(const char* name) const;
  const weft_host_image& table() const { return *table_; }

 private:
  Image(UniqueFd file, void* library, const weft_host_image* table)
      : file_(std::move(file)), library_(library), table_(table) {}

  // The loader knows the library by the descriptor's path; the descriptor stays open so that the
  // path cannot come to name another image meanwhile.
  UniqueFd file_;
  void* const library_;
  const weft_host_image* const table_;
};

}  // namespace weft::hostcuda
