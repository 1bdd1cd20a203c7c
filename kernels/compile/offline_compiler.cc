#include "kernels/compile/offline_compiler.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cuda/nvrtc.h"
#include "kernels/compile/errors.h"

namespace weft::kernels {

absl::StatusOr<CompiledModule> CompileOffline(const CudaSource& source,
                                              const OfflineTarget& target) {
  const absl::StatusOr<cuda::NvrtcFile> file = cuda::Nvrtc::Find();
  if (!file.ok()) return NoNvrtcError();
  const absl::StatusOr<std::unique_ptr<const cuda::Nvrtc>> nvrtc = cuda::Nvrtc::Load(*file);
  if (!nvrtc.ok()) return NoNvrtcError();
  const bool ptx = target.output == OfflineTarget::Output::kPtx;
  cuda::NvrtcSource in{.file_name = absl::StrCat(source.name, ".cu"), .code = source.code};
  for (const CudaSource::Header& header : source.headers) {
    in.headers.push_back({header.name, header.code});
  }
  // The standard first: an option of the user's comes later and wins.
  in.options = {absl::StrCat("--gpu-architecture=", ptx ? "compute_" : "sm_", target.architecture),
                "--std=c++20"};
  in.options.insert(in.options.end(), source.options.begin(), source.options.end());
  in.name_expressions = source.entries;
  in.output = ptx ? cuda::NvrtcSource::Output::kPtx : cuda::NvrtcSource::Output::kCubin;
  absl::StatusOr<cuda::NvrtcResult> result = (*nvrtc)->Compile(in);
  if (absl::IsInvalidArgument(result.status())) {
    return CompileError(source.name, result.status().message());
  }
  if (!result.ok()) return CompilerFailedError(result.status().message());
  return CompiledModule{std::move(result->image), std::move(result->lowered_names)};
}

}  // namespace weft::kernels
