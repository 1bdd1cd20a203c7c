// Compiled modules on disk, by a digest of all that went into them, so that they outlive the server.
//
// A file holds one module, with a checksum: one that was cut short or changed is as good as none.
// Files appear by rename, so processes that share the folder see whole ones; two that write the same
// write the same bytes. When the files take more than the limit, those read longest ago go.
//
// Thread safety: all members may be called from any thread, and from several processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "kernels/compile/compiler.h"

namespace weft::kernels {

class ImageCache {
 public:
  static constexpr uint64_t kDefaultLimitBytes = uint64_t{256} << 20;

  // `folder` is made when something is put into it. Empty: nothing is kept.
  explicit ImageCache(std::string folder, uint64_t limit_bytes = kDefaultLimitBytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  // $XDG_CACHE_HOME/weft/kernels, or ~/.cache/weft/kernels; empty when there is no home.
  static std::string DefaultFolder();

  // `key`: hexadecimal digits (Digest::Hex). nullopt: not there, or not whole.
  std::optional<CompiledModule> Find(const std::string& key) const;
  // An error means that the module was not kept; nothing else depends on it.
  absl::Status Put(const std::string& key, const CompiledModule& module) const;

 private:
  std::string PathOf(const std::string& key) const;
  void Shrink() const;

  const std::string folder_;
  const uint64_t limit_bytes_;
};

}  // namespace weft::kernels
