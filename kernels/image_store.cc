#include "kernels/image_store.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::kernels {
namespace {

constexpr char kFolder[] = "share/weft/kernels";

const char* FileOf(ImageKind kind) {
  switch (kind) {
    case ImageKind::kCuda:
      return "builtin.fatbin";
    case ImageKind::kHost:
      return "builtin.host.so";
    case ImageKind::kHostLibrary:
      return "library.host.so";
  }
  return "";
}

const char* AdviceFor(ImageKind kind) {
  return kind == ImageKind::kCuda
             ? "This build has no device code: configure with WEFT_CUDA_ARCHITECTURES set to the "
               "GPU's "
               "compute capability (or leave it at its default), or choose the CPU driver."
             : "Reinstall Weft, or set WEFT_KERNEL_DIR to the folder that has it.";
}

}  // namespace

std::vector<std::string> ImageFolders() {
  std::vector<std::string> folders;
  if (const char* set = std::getenv("WEFT_KERNEL_DIR"); set != nullptr && *set != '\0')
    folders.emplace_back(set);
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path root = program.parent_path().parent_path();
    folders.push_back((root / kFolder).string());
    folders.push_back((root.parent_path() / kFolder).string());
  }
  return folders;
}

absl::StatusOr<std::string> LoadBuiltinImage(ImageKind kind) {
  const std::vector<std::string> folders = ImageFolders();
  for (const std::string& folder : folders) {
    std::ifstream file(absl::StrCat(folder, "/", FileOf(kind)), std::ios::binary);
    if (!file) continue;
    std::ostringstream bytes;
    bytes << file.rdbuf();
    if (file.good() || file.eof()) return std::move(bytes).str();
  }
  return absl::NotFoundError(absl::StrCat("the built-in kernels' image ", FileOf(kind),
                                          " is in none of ", absl::StrJoin(folders, ", "), ". ",
                                          AdviceFor(kind)));
}

}  // namespace weft::kernels
