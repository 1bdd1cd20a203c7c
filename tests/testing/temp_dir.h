// A directory of its own for one test, removed with everything in it.
//
// Thread safety: as a value; one owner.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace weft::testing {

class TempDir {
 public:
  // Makes the directory (mode 0700) under $TMPDIR or /tmp. The path is short, because the path of a
  // Unix socket has room for 107 bytes. A failure ends the test program: nothing could be tested.
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  // path() + "/" + name.
  std::string File(absl::string_view name) const;
  // Writes `content` to File(name) and returns that path.
  std::string WriteFile(absl::string_view name, absl::string_view content) const;

 private:
  std::string path_;
};

// The whole file; empty when it cannot be read.
std::string ReadFile(const std::string& path);

}  // namespace weft::testing
