#include "tests/testing/temp_dir.h"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace weft::testing {

TempDir::TempDir() {
  const char* base = ::getenv("TMPDIR");
  path_ = absl::StrCat(base != nullptr && *base != '\0' ? base : "/tmp", "/weft-XXXXXX");
  if (::mkdtemp(path_.data()) == nullptr) {
    std::perror(path_.c_str());
    std::abort();
  }
}

TempDir::~TempDir() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  if (error) std::fprintf(stderr, "%s: %s\n", path_.c_str(), error.message().c_str());
}

std::string TempDir::File(absl::string_view name) const { return absl::StrCat(path_, "/", name); }

std::string TempDir::WriteFile(absl::string_view name, absl::string_view content) const {
  const std::string file = File(name);
  std::ofstream stream(file, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  return file;
}

std::string ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace weft::testing
