// weft-bench-echo SOCKET sync|callback: serves EchoService on a Unix socket until its standard input
// ends, so that it never outlives the benchmark that started it. Prints "ready" once it serves.
//
// "callback" is built as weftd is: gRPC's callback API, over connections that the program accepts
// itself. "sync" is gRPC's synchronous API on gRPC's own listener, for comparison.
#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "weft/bench/v1/echo.grpc.pb.h"

namespace weft::bench {
namespace {

class SyncEcho final : public v1::EchoService::Service {
  grpc::Status Echo(grpc::ServerContext*, const v1::EchoRequest* request,
                    v1::EchoResponse* response) override {
    response->set_payload(request->payload());
    return grpc::Status::OK;
  }
};

class CallbackEcho final : public v1::EchoService::CallbackService {
  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context,
                                 const v1::EchoRequest* request,
                                 v1::EchoResponse* response) override {
    response->set_payload(request->payload());
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

UniqueFd Listen(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return UniqueFd();
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener.get(), 64) != 0) {
    return UniqueFd();
  }
  return listener;
}

// Hands every connection to gRPC until the listener is shut down.
void AcceptConnections(int listener, grpc::Server* server) {
  for (;;) {
    const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) return;
    grpc::AddInsecureChannelFromFd(server, connection);
  }
}

void WaitForEndOfInput() {
  std::puts("ready");
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

int ServeCallback(const std::string& path) {
  const UniqueFd listener = Listen(path);
  if (!listener.valid()) {
    std::perror(path.c_str());
    return 1;
  }
  CallbackEcho service;
  grpc::ServerBuilder builder;
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  std::thread acceptor(AcceptConnections, listener.get(), server.get());
  WaitForEndOfInput();
  ::shutdown(listener.get(), SHUT_RDWR);
  acceptor.join();
  server->Shutdown();
  ::unlink(path.c_str());
  return 0;
}

int ServeSync(const std::string& path) {
  SyncEcho service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  WaitForEndOfInput();
  server->Shutdown();
  return 0;
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  const std::string mode = argc == 3 ? argv[2] : "";
  if (mode == "callback") return weft::bench::ServeCallback(argv[1]);
  if (mode == "sync") return weft::bench::ServeSync(argv[1]);
  std::fprintf(stderr, "usage: %s SOCKET sync|callback\n", argv[0]);
  return 2;
}
