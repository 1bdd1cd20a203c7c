#include "client/cli/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "client/cli/errors.h"
#include "client/connection.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kReadChunkBytes = 1 << 20;

absl::Status WriteAll(int fd, const std::string& path, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return CannotWriteError(path, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status WriteTo(const std::string& shown_path, const std::string& path, int flags,
                     absl::Span<const absl::string_view> pieces) {
  UniqueFd fd(open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666));
  if (!fd.valid()) return CannotWriteError(shown_path, errno);
  for (const absl::string_view piece : pieces) {
    WEFT_RETURN_IF_ERROR(WriteAll(fd.get(), shown_path, piece));
  }
  // Some file systems report a full disk only here.
  if (close(fd.release()) != 0) return CannotWriteError(shown_path, errno);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t max_bytes) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return CannotReadError(path, errno);
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) return CannotReadError(path, errno);
  if (S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) > max_bytes) {
    return FileTooLargeError(path, max_bytes);
  }
  std::string bytes;
  while (true) {
    const size_t before = bytes.size();
    // One byte more than allowed tells a file that is too large.
    const size_t want = std::min<uint64_t>(kReadChunkBytes, max_bytes + 1 - before);
    bytes.resize(before + want);
    const ssize_t got = read(fd.get(), bytes.data() + before, want);
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return CannotReadError(path, errno);
    if (got == 0) return bytes;
    if (bytes.size() > max_bytes) return FileTooLargeError(path, max_bytes);
  }
}

absl::Status WriteWholeFile(const std::string& path, absl::Span<const absl::string_view> pieces) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return CannotWriteError(path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) return WriteTo(path, path, 0, pieces);
  const std::string target =
      fs::is_symlink(path, error) ? fs::weakly_canonical(path, error).string() : path;
  const std::string temporary = absl::StrCat(target, ".", client::NewRequestId(), ".tmp");
  absl::Status written = WriteTo(path, temporary, O_CREAT | O_EXCL, pieces);
  if (written.ok() && rename(temporary.c_str(), target.c_str()) != 0) {
    written = CannotWriteError(path, errno);
  }
  if (!written.ok()) unlink(temporary.c_str());
  return written;
}

std::string CanonicalPath(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path canonical = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal().string() : canonical.string();
}

}  // namespace weft::cli
