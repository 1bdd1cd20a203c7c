#pragma once

#include "server/daemon/caller.h"

namespace weft::daemon {

inline constexpr Caller kAlice{.uid = 1000, .pid = 1, .session = SessionId(1)};
inline constexpr Caller kBob{.uid = 2000, .pid = 2, .session = SessionId(2)};
inline constexpr Caller kRoot{.uid = 0, .pid = 3, .session = SessionId(3)};

}  // namespace weft::daemon
