#include "client/channel.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <climits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"

namespace weft::client {
namespace {

// gRPC's name of a Unix socket is a URI: what is special in one is escaped.
std::string TargetOf(const std::string& socket) {
  std::string target = "unix:";
  for (const unsigned char c : socket) {
    if (absl::ascii_isalnum(c) || absl::StrContains("/-_.~", static_cast<char>(c))) {
      target.push_back(static_cast<char>(c));
    } else {
      absl::StrAppendFormat(&target, "%%%02X", c);
    }
  }
  return target;
}

}  // namespace

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& socket) {
  grpc::ChannelArguments arguments;
  // Results and uploads are limited by the server, which says so; gRPC's 4 MiB would hide that.
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // Each connection is a session of its own, so it never shares another's socket, nor loses its own
  // for being idle.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, INT_MAX);
  // Retries are ours: gRPC does not know which calls carry a request id.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A restarted weftd is back within a second; gRPC's own first wait is as long.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  return grpc::CreateCustomChannel(TargetOf(socket), grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace weft::client
