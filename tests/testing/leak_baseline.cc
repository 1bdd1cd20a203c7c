#include "tests/testing/leak_baseline.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace weft::testing {
namespace {

// "socket:[1234]" → "socket": a descriptor is compared by what kind of thing it refers to.
std::string KindOf(const std::string& target) { return target.substr(0, target.find(":[")); }

std::vector<std::string> OpenFds(pid_t pid) {
  std::vector<std::string> open;
  const std::string folder = absl::StrCat("/proc/", pid, "/fd");
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    // The iterator's own descriptor refers to the folder itself.
    if (gone || target == absl::StrCat("/proc/", pid, "/fd")) continue;
    open.push_back(KindOf(target));
  }
  std::sort(open.begin(), open.end());
  return open;
}

}  // namespace

LeakBaseline LeakBaseline::Take() { return Take(::getpid()); }

LeakBaseline LeakBaseline::Take(pid_t pid) { return {pid, OpenFds(pid)}; }

std::vector<std::string> LeakBaseline::Leaked() const {
  const std::vector<std::string> now = OpenFds(pid_);
  std::vector<std::string> leaked;
  std::set_difference(now.begin(), now.end(), open_.begin(), open_.end(),
                      std::back_inserter(leaked));
  return leaked;
}

}  // namespace weft::testing
