// The gRPC channel to a weftd (internal to the library).
//
// Thread safety: pure function.
#pragma once

#include <memory>
#include <string>

namespace grpc {
class Channel;
}  // namespace grpc

namespace weft::client {

// A channel of its own to the Unix socket at this absolute path. Connects at the first call, and
// anew after a break. No stub is made here.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& socket);

}  // namespace weft::client
