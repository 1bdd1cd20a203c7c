// What tells one version of a file from another without reading it: for keys of caches.
#pragma once

#include <optional>
#include <string>

namespace weft {

// Real path, size and time of the last change of the file at `path`, links followed; nullopt when there is none. Files
// that a package manager replaces get another one, as does an edited file.
// Thread safety: any. Cost: two system calls a folder of the path.
std::optional<std::string> FileIdentity(const std::string& path);

}  // namespace weft
