// Texture objects.
#include <memory>

#include "cuda/host/api_call.h"
#include "cuda/host/device_attributes.h"
#include "cuda/host/texture.h"

using namespace weft::hostcuda;  // NOLINT(google-build-using-namespace): the functions are global

extern "C" {

// The object is the address of its description, which the headers for kernels follow.
CUresult CUDAAPI cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                                   const CUDA_TEXTURE_DESC* sampler,
                                   const CUDA_RESOURCE_VIEW_DESC* view) {
  return CallInContext(
      ApiFunction::k_cuTexObjectCreate,
      [&](Runtime& runtime, const ContextPtr& context) -> CUresult {
        if (object == nullptr || resource == nullptr || sampler == nullptr) {
          return CUDA_ERROR_INVALID_VALUE;
        }
        if (view != nullptr) return CUDA_ERROR_INVALID_VALUE;  // of arrays alone
        auto texture = std::make_unique<weft_host_texture>();
        WEFT_CU_RETURN_IF_ERROR(DescribeTexture(*resource, *sampler, texture.get()));
        *object = runtime.textures.Insert(context.get(), std::move(texture));
        return CUDA_SUCCESS;
      });
}

CUresult CUDAAPI cuTexObjectDestroy(CUtexObject object) {
  return CallToEnd(ApiFunction::k_cuTexObjectDestroy, [&](Runtime& runtime) -> CUresult {
    return runtime.textures.Remove(object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // extern "C"
