// Who calls: the kernel's word about the peer of a connection, and the connection itself.
#pragma once

#include <sys/types.h>

#include "base/ids.h"

namespace weft::daemon {

struct Caller {
  uid_t uid = 0;
  pid_t pid = 0;  // for logs; 0 when the kernel cannot tell
  SessionId session;

  // A user touches what is theirs; root touches everything.
  bool MayUse(uid_t owner) const { return uid == 0 || uid == owner; }
};

}  // namespace weft::daemon
