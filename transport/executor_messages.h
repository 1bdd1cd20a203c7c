// What travels on the fd socket between weftd and one weft-executor: the kinds of FdMessage and
// their order. (Both programs need the numbers and neither may include the other.) Bodies are
// messages of proto/weft/executor/v1/executor.proto, serialised; this folder does not know them.
//
// clang-format off
//   executor                           weftd
//      │ kHello ─────────────────────────▶ │  once, first. Body: Hello. With Hello.error the
//      │                                   │    executor then exits
//      │ ◀──────────────────────── kAttach │  once. 2 fds: launch ring (weftd made it), transfer
//      │                                   │    area
//      │ kReady ─────────────────────────▶ │  once: the ring is served and the private gRPC socket
//      │                                   │    is listening
//      │                                   │
//      │ kAllocation ────────────────────▶ │  before the reply of Allocate: 1 fd, the device memory
//      │ ◀──────────────────────── kImport │  before the call of Import or MapPeer: 1 fd, the
//      │                                   │    device memory
//      │ kStaging ───────────────────────▶ │  before the reply of Prepare, when staging_bytes > 0:
//      │                                   │    1 fd
//      │                                   │
//      │ kFault ─────────────────────────▶ │  at most once: the context is lost, the executor exits
//      │                                   │    (status 3). Body: GetLaunchReportResponse. Sent
//      │                                   │    before the ring's completions of the launches that
//      │                                   │    died with it (they carry kCompletionContextLost)
//      │ ◀────────────────────────── close │  the executor ends at once
// clang-format on
//
// weftd's own order of sending and calling is enough for kImport: the executor waits for the tag
// that a call names, and those of one tag are all of the same memory. Messages of different tags
// may arrive in any order.
#pragma once

#include <cstdint>

namespace weft::transport {

enum class ExecutorMessage : uint32_t {
  kHello = 1,       // tag 0
  kAttach = 2,      // tag 0; fds: [0] ring, [1] transfer area (a sealed memfd of any size)
  kReady = 3,       // tag 0
  kAllocation = 4,  // tag: AllocateRequest.tag
  kImport = 5,      // tag: ImportRequest.tag, MapPeerRequest.tag
  kStaging = 6,     // tag: PrepareRequest.graph_id
  kFault = 7,       // tag: id of the graph whose launch showed the fault; 0: none
};

// google.rpc error details of an UNAVAILABLE reply: the device's context is lost, the executor ends
// by itself, and kFault comes before its end.
inline constexpr char kContextLostDetail[] = "context-lost";

}  // namespace weft::transport
