#include "server/daemon/sd_notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error_context.h"
#include "base/log.h"
#include "base/unique_fd.h"

namespace weft::daemon {

void NotifyServiceManager(absl::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address = {};
  if (path == nullptr || *path == '\0' || std::strlen(path) >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, std::strlen(path));
  // "@name" is a name in the abstract namespace, whose first byte is 0.
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&address), length) < 0) {
    log::Warning("service manager not told",
                 {{"error", std::string(ErrnoError(errno, "sendto", path).message())}});
  }
}

}  // namespace weft::daemon
