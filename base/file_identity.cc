#include "base/file_identity.h"

#include <sys/stat.h>

#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"

namespace weft {

std::optional<std::string> FileIdentity(const std::string& path) {
  struct stat status = {};
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real == nullptr || ::stat(real.get(), &status) != 0) return std::nullopt;
  return absl::StrCat(real.get(), " ", status.st_size, " ", status.st_mtim.tv_sec, ".",
                      status.st_mtim.tv_nsec);
}

}  // namespace weft
