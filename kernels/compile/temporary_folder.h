// A folder that nobody else may enter, gone with all that is in it when the object dies.
//
// Thread safety: as a string; one owner at a time.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace weft::kernels {

class TemporaryFolder {
 public:
  // Below $TMPDIR, or /tmp. Errors: those of mkdtemp.
  static absl::StatusOr<TemporaryFolder> Create();
  ~TemporaryFolder();  // logs what it cannot remove
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  // `name` may have folders before it, which are made. Errors: those of the file system.
  absl::Status Write(const std::string& name, const std::string& bytes) const;
  absl::StatusOr<std::string> Read(const std::string& name) const;

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace weft::kernels
