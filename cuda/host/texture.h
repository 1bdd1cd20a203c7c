// Texture objects: descriptions of memory that kernels follow (texture_abi.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "cuda/host/cuda_api.h"
#include "cuda/host/mutex.h"
#include "cuda/host/texture_abi.h"

namespace weft::hostcuda {

class Context;

// Linear memory (one dimension) and pitch-linear memory (two). Errors: INVALID_VALUE for what a GPU
// refuses: misaligned addresses and pitches, sizes beyond the limits, modes that do not go together;
// NOT_SUPPORTED for arrays.
CUresult DescribeTexture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampler,
                         weft_host_texture* texture);

// The objects that there are. Thread safety: all members may be called from any thread.
class TextureTable {
 public:
  CUtexObject Insert(const Context* context, std::unique_ptr<const weft_host_texture> texture);
  // False when there is none of that number.
  bool Remove(CUtexObject object);
  void RemoveOf(const Context* context);

 private:
  struct Entry {
    const Context* context;
    std::unique_ptr<const weft_host_texture> texture;
  };
  Mutex mu_;
  std::map<CUtexObject, Entry> textures_ ABSL_GUARDED_BY(mu_);
};

}  // namespace weft::hostcuda
