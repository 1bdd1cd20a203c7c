#include "cuda/host/image.h"

#include <dlfcn.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "cuda/host/device_attributes.h"
#include "cuda/host/elf_image.h"

namespace weft::hostcuda {
namespace {

// Tables beyond these are damaged.
constexpr uint32_t kMaxEntries = 1 << 16;
constexpr uint32_t kMaxParameters = 4096;

std::string PathOf(const UniqueFd& file) { return absl::StrCat("/proc/self/fd/", file.get()); }

bool IsValidKernel(const weft_host_kernel& kernel) {
  if (kernel.name == nullptr || kernel.run == nullptr) return false;
  if (kernel.param_count > kMaxParameters || (kernel.param_count > 0 && kernel.params == nullptr)) {
    return false;
  }
  for (uint32_t i = 0; i < kernel.param_count; ++i) {
    const weft_host_param& param = kernel.params[i];
    if (param.size == 0 || uint64_t{param.offset} + param.size > kMaxParameterBytes) return false;
  }
  return kernel.static_shared_bytes <= static_cast<uint32_t>(kSharedBytes) &&
         kernel.max_threads_per_block <= kMaxThreads;
}

bool IsValidTable(const weft_host_image& table) {
  if (table.abi != WEFT_HOST_IMAGE_ABI) return false;
  if (table.kernel_count > kMaxEntries || table.global_count > kMaxEntries) return false;
  if (table.kernel_count > 0 && table.kernels == nullptr) return false;
  if (table.global_count > 0 && table.globals == nullptr) return false;
  for (uint32_t i = 0; i < table.kernel_count; ++i) {
    if (!IsValidKernel(table.kernels[i])) return false;
  }
  for (uint32_t i = 0; i < table.global_count; ++i) {
    const weft_host_global& global = table.globals[i];
    if (global.name == nullptr || global.address == nullptr || global.size == 0) return false;
  }
  return true;
}

}  // namespace

CUresult Image::Load(const void* bytes, std::shared_ptr<const Image>* image) {
  UniqueFd file;
  const CUresult copied = CopyElfImage(bytes, &file);
  if (copied != CUDA_SUCCESS) return copied;
  void* library = ::dlopen(PathOf(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return CUDA_ERROR_INVALID_IMAGE;
  const auto table_of =
      reinterpret_cast<weft_host_image_table_fn>(::dlsym(library, WEFT_HOST_IMAGE_SYMBOL));
  const weft_host_image* table = table_of == nullptr ? nullptr : table_of();
  // From here on the library is the Image's to close.
  std::shared_ptr<const Image> loaded(new Image(std::move(file), library, table));
  if (table == nullptr || !IsValidTable(*table)) return CUDA_ERROR_INVALID_IMAGE;
  *image = std::move(loaded);
  return CUDA_SUCCESS;
}

Image::~Image() {
  ::dlclose(library_);
  // A library with unique symbols (inline variables of C++) never leaves the process. Its path must
  // then name it for ever: the next image with this descriptor's number would be taken for it.
  if (void* still = ::dlopen(PathOf(file_).c_str(), RTLD_NOW | RTLD_NOLOAD)) {
    ::dlclose(still);
    file_.release();
  }
}

const weft_host_kernel* Image::FindKernel(const char* name) const {
  for (uint32_t i = 0; i < table_->kernel_count; ++i) {
    if (std::strcmp(table_->kernels[i].name, name) == 0) return &table_->kernels[i];
  }
  return nullptr;
}

const weft_host_global* Image::FindGlobal(const char* name) const {
  for (uint32_t i = 0; i < table_->global_count; ++i) {
    if (std::strcmp(table_->globals[i].name, name) == 0) return &table_->globals[i];
  }
  return nullptr;
}

}  // namespace weft::hostcuda
