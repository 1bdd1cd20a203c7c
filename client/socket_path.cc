#include "client/socket_path.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error_context.h"
#include "base/unique_fd.h"
#include "client/errors.h"

namespace weft::client {
namespace {

constexpr char kSystemSocket[] = "/run/weft/weftd.sock";

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

absl::Status ExplainConnectError(int error_number, const std::string& path) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return NoServerError(path);
    case ECONNREFUSED:
      return NobodyListensError(path);
    case EACCES:
    case EPERM:
      return SocketDeniedError(path);
    case EAGAIN:  // its queue of connections is full: it lives
      return absl::OkStatus();
    default:
      return ErrnoError(error_number, "connect", path);
  }
}

}  // namespace

std::string DefaultSocket() {
  std::string chosen = FromEnvironment("WEFT_SOCKET");
  if (!chosen.empty()) return chosen;
  const std::string runtime_dir = FromEnvironment("XDG_RUNTIME_DIR");
  if (runtime_dir.empty()) return kSystemSocket;
  std::string own = runtime_dir + "/weft/weftd.sock";
  if (!Exists(own) && Exists(kSystemSocket)) return kSystemSocket;
  return own;
}

absl::Status ProbeSocket(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return SocketPathTooLongError(path);
  std::memcpy(address.sun_path, path.data(), path.size());
  const UniqueFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.valid()) return ErrnoError(errno, "socket", path);
  if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return absl::OkStatus();
  }
  return ExplainConnectError(errno, path);
}

}  // namespace weft::client
