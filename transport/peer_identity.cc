#include "transport/peer_identity.h"

#include <sys/socket.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/error_context.h"

namespace weft::transport {

absl::StatusOr<PeerIdentity> PeerIdentityOf(int socket) {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) {
    return ErrnoError(errno, "getsockopt", "SO_DOMAIN");
  }
  // Other families answer SO_PEERCRED too, with nobody in it.
  if (domain != AF_UNIX) {
    return absl::InvalidArgumentError(
        absl::StrCat("SO_PEERCRED needs a Unix socket, got family ", domain));
  }
  ucred credentials{};
  size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return ErrnoError(errno, "getsockopt", "SO_PEERCRED");
  }
  // An unconnected Unix socket answers with these.
  if (credentials.uid == static_cast<uid_t>(-1)) {
    return absl::InvalidArgumentError("SO_PEERCRED of a socket that is not connected");
  }
  return PeerIdentity{credentials.uid, credentials.gid, credentials.pid};
}

}  // namespace weft::transport
