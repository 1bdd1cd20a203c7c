#include "kernels/compile/image_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error_context.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "kernels/compile/digest.h"

namespace weft::kernels {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kMagic = "WEFTMOD1";
constexpr absl::string_view kEnding = ".module";
constexpr size_t kDigestChars = 64;
// What is read of a file at most: a larger one was not written here.
constexpr uintmax_t kMaxFileBytes = uintmax_t{1} << 30;

void AppendText(std::string& out, absl::string_view text) {
  const uint64_t size = text.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out.append(text.data(), text.size());
}

bool TakeText(absl::string_view& in, std::string& text) {
  uint64_t size = 0;
  if (in.size() < sizeof size) return false;
  std::memcpy(&size, in.data(), sizeof size);
  in.remove_prefix(sizeof size);
  if (size > in.size()) return false;
  text.assign(in.data(), size);
  in.remove_prefix(size);
  return true;
}

std::string ChecksumOf(absl::string_view body) {
  Digest digest;
  digest.Add(body);
  return digest.Hex();
}

// magic, checksum of the rest, image, symbols
std::string Encode(const CompiledModule& module) {
  std::string body;
  AppendText(body, module.image);
  for (const std::string& symbol : module.symbols) AppendText(body, symbol);
  return absl::StrCat(kMagic, ChecksumOf(body), body);
}

std::optional<CompiledModule> Decode(absl::string_view file) {
  if (!absl::StartsWith(file, kMagic) || file.size() < kMagic.size() + kDigestChars) {
    return std::nullopt;
  }
  const absl::string_view checksum = file.substr(kMagic.size(), kDigestChars);
  absl::string_view body = file.substr(kMagic.size() + kDigestChars);
  if (checksum != ChecksumOf(body)) return std::nullopt;
  CompiledModule module;
  if (!TakeText(body, module.image)) return std::nullopt;
  while (!body.empty()) {
    if (!TakeText(body, module.symbols.emplace_back())) return std::nullopt;
  }
  return module;
}

absl::Status WriteAll(int fd, absl::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError(errno, "write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

struct CachedFile {
  fs::file_time_type used;
  uintmax_t bytes = 0;
  fs::path path;
};

std::vector<CachedFile> ListFiles(const std::string& folder) {
  std::vector<CachedFile> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    CachedFile file;
    file.path = entry.path();
    if (file.path.extension() != std::string(kEnding)) continue;
    // Another process may remove it meanwhile.
    file.bytes = entry.file_size(error);
    if (!error) file.used = entry.last_write_time(error);
    if (!error) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

std::string ImageCache::DefaultFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return absl::StrCat(cache, "/weft/kernels");
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return "";
  return absl::StrCat(home, "/.cache/weft/kernels");
}

std::string ImageCache::PathOf(const std::string& key) const {
  return absl::StrCat(folder_, "/", key, kEnding);
}

std::optional<CompiledModule> ImageCache::Find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = PathOf(key);
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error || size > kMaxFileBytes) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::optional<CompiledModule> module = Decode(bytes);
  // Its age is that of its last use; where that cannot be noted, it only goes earlier.
  if (module.has_value()) ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return module;
}

absl::Status ImageCache::Put(const std::string& key, const CompiledModule& module) const {
  if (folder_.empty()) return absl::OkStatus();
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return ErrnoError(error.value(), "mkdir", folder_);
  std::string temporary = absl::StrCat(folder_, "/", key, ".XXXXXX");
  const UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!file.valid()) return ErrnoError(errno, "mkostemp", temporary);
  absl::Status status = WriteAll(file.get(), Encode(module), temporary);
  if (status.ok() && ::rename(temporary.c_str(), PathOf(key).c_str()) != 0) {
    status = ErrnoError(errno, "rename", temporary);
  }
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  Shrink();
  return absl::OkStatus();
}

void ImageCache::Shrink() const {
  std::vector<CachedFile> files = ListFiles(folder_);
  uint64_t bytes = 0;
  for (const CachedFile& file : files) bytes += file.bytes;
  if (bytes <= limit_bytes_) return;
  std::sort(files.begin(), files.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.used < b.used; });
  for (const CachedFile& file : files) {
    if (bytes <= limit_bytes_) return;
    std::error_code error;
    fs::remove(file.path, error);
    bytes -= file.bytes;
  }
}

}  // namespace weft::kernels
