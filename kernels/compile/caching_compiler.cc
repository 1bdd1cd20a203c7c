#include "kernels/compile/caching_compiler.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "kernels/compile/digest.h"

namespace weft::kernels {

std::string KeyOf(const CudaSource& source, absl::string_view compiler_identity) {
  Digest digest;
  digest.Add(compiler_identity);
  digest.Add(source.code);
  digest.Add(absl::StrCat(source.options.size()));
  for (const std::string& option : source.options) digest.Add(option);
  digest.Add(absl::StrCat(source.headers.size()));
  for (const CudaSource::Header& header : source.headers) {
    digest.Add(header.name);
    digest.Add(header.code);
  }
  digest.Add(absl::StrCat(source.entries.size()));
  for (const std::string& entry : source.entries) digest.Add(entry);
  for (const std::string& variable : source.variables) digest.Add(variable);
  return digest.Hex();
}

namespace {

// Also has OpenSSL set itself up, which takes it some milliseconds: not at the first job's cost.
std::string DigestOf(absl::string_view text) {
  Digest digest;
  digest.Add(text);
  return digest.Hex();
}

}  // namespace

CachingCompiler::CachingCompiler(std::unique_ptr<const Compiler> compiler, ImageCache cache)
    : compiler_(std::move(compiler)),
      cache_(std::move(cache)),
      identity_(DigestOf(compiler_->Identity())) {}

absl::StatusOr<CompiledModule> CachingCompiler::Compile(const CudaSource& source) const {
  const std::string key = KeyOf(source, identity_);
  if (std::optional<CompiledModule> kept = cache_.Find(key);
      kept.has_value() && kept->symbols.size() == source.entries.size() + source.variables.size()) {
    return *std::move(kept);
  }
  WEFT_ASSIGN_OR_RETURN(CompiledModule module, compiler_->Compile(source));
  if (const absl::Status kept = cache_.Put(key, module); !kept.ok()) {
    log::Warning("compiled kernels are not kept on disk", {{"error", kept.ToString()}});
  }
  return module;
}

}  // namespace weft::kernels
