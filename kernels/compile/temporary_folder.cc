#include "kernels/compile/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/log.h"

namespace weft::kernels {

absl::StatusOr<TemporaryFolder> TemporaryFolder::Create() {
  const char* set = std::getenv("TMPDIR");
  std::string path =
      absl::StrCat(set != nullptr && *set == '/' ? set : "/tmp", "/weft-compile-XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) return ErrnoError(errno, "mkdtemp", path);
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  if (error) {
    log::Warning("temporary folder stays", {{"path", path_}, {"error", error.message()}});
  }
}

absl::Status TemporaryFolder::Write(const std::string& name, const std::string& bytes) const {
  const std::filesystem::path path = std::filesystem::path(path_) / name;
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) return ErrnoError(error.value(), "mkdir", path.parent_path().string());
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return ErrnoError(errno, "write", path.string());
  return absl::OkStatus();
}

absl::StatusOr<std::string> TemporaryFolder::Read(const std::string& name) const {
  const std::filesystem::path path = std::filesystem::path(path_) / name;
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) return ErrnoError(errno, "read", path.string());
  return bytes;
}

}  // namespace weft::kernels
