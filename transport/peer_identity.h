// Who is at the other end of a Unix socket, as the kernel saw it when the connection was made.
#pragma once

#include <sys/types.h>

#include "absl/status/statusor.h"

namespace weft::transport {

struct PeerIdentity {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;  // 0 when the peer is in a pid namespace that this process cannot see; never an
                  // identity by itself
  friend bool operator==(const PeerIdentity&, const PeerIdentity&) = default;
};

// SO_PEERCRED of a connected Unix socket. Does not block. An error for any other kind of
// descriptor.
absl::StatusOr<PeerIdentity> PeerIdentityOf(int socket);

}  // namespace weft::transport
