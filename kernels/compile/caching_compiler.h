// A compiler that compiles each source once: what it made is kept on disk.
#pragma once

#include <memory>
#include <string>

#include "kernels/compile/compiler.h"
#include "kernels/compile/image_cache.h"

namespace weft::kernels {

class CachingCompiler final : public Compiler {
 public:
  CachingCompiler(std::unique_ptr<const Compiler> compiler, ImageCache cache);

  absl::StatusOr<CompiledModule> Compile(const CudaSource& source) const override;
  std::string Identity() const override { return compiler_->Identity(); }

 private:
  const std::unique_ptr<const Compiler> compiler_;
  const ImageCache cache_;
  const std::string identity_;  // a digest of the compiler's
};

// Equal keys: the same text compiled in the same way for the same target.
std::string KeyOf(const CudaSource& source, absl::string_view compiler_identity);

}  // namespace weft::kernels
