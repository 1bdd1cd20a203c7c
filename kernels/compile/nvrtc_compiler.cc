#include "kernels/compile/nvrtc_compiler.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/compile/errors.h"
#include "kernels/compile/options.h"

namespace weft::kernels {
namespace {

cuda::NvrtcSource ToNvrtc(const CudaSource& source, const std::string& architecture) {
  cuda::NvrtcSource out{.file_name = absl::StrCat(source.name, ".cu"), .code = source.code};
  for (const CudaSource::Header& header : source.headers) {
    out.headers.push_back({header.name, header.code});
  }
  out.options = {absl::StrCat("--gpu-architecture=", architecture)};
  bool has_standard = false;
  for (const std::string& option : source.options) {
    out.options.push_back(option);
    has_standard = has_standard || absl::StrContains(option, "-std=");
  }
  if (!has_standard) out.options.emplace_back("--std=c++20");  // as HostCompiler
  out.name_expressions = source.entries;
  // Their address: what is named so is kept, also when no kernel needs it.
  for (const std::string& variable : source.variables) {
    out.name_expressions.push_back(absl::StrCat("&", variable));
  }
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NvrtcCompiler>> NvrtcCompiler::Create(
    CudaArchitecture architecture) {
  absl::StatusOr<cuda::NvrtcFile> file = cuda::Nvrtc::Find();
  if (!file.ok()) return NoNvrtcError();
  return std::unique_ptr<NvrtcCompiler>(new NvrtcCompiler(
      *std::move(file), absl::StrCat("sm_", architecture.major, architecture.minor)));
}

const absl::StatusOr<std::unique_ptr<const cuda::Nvrtc>>& NvrtcCompiler::Opened() const {
  absl::call_once(opening_, [this] { nvrtc_ = cuda::Nvrtc::Load(file_); });
  return nvrtc_;
}

absl::StatusOr<CompiledModule> NvrtcCompiler::Compile(const CudaSource& source) const {
  WEFT_RETURN_IF_ERROR(CheckSource(source));
  const absl::StatusOr<std::unique_ptr<const cuda::Nvrtc>>& nvrtc = Opened();
  if (!nvrtc.ok()) return NoNvrtcError();
  absl::StatusOr<cuda::NvrtcResult> result = (*nvrtc)->Compile(ToNvrtc(source, architecture_));
  if (absl::IsInvalidArgument(result.status())) {
    return CompileError(source.name, result.status().message());
  }
  if (!result.ok()) return CompilerFailedError(result.status().message());
  return CompiledModule{std::move(result->image), std::move(result->lowered_names)};
}

std::string NvrtcCompiler::Identity() const {
  return absl::StrCat("nvrtc ", file_.identity, " ", architecture_);
}

}  // namespace weft::kernels
