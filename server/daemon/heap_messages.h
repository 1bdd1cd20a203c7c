// Requests of one method as objects that its handler may take apart: gRPC's own way hands them out
// as const, and a job's megabytes of inline bytes would have to be copied.
//
//   service.SetMessageAllocatorFor_Submit(&messages);
//   ... in the handler: messages.RequestOf(*context).mutable_job() ...
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/message_allocator.h>

namespace weft::daemon {

template <typename Request, typename Response>
class HeapMessages final : public grpc::MessageAllocator<Request, Response> {
 public:
  grpc::MessageHolder<Request, Response>* AllocateMessages() override { return new Holder; }

  // REQUIRES: `context` is of a call whose messages come from this allocator.
  static Request& RequestOf(grpc::CallbackServerContext& context) {
    return *static_cast<Holder*>(context.GetRpcAllocatorState())->request();
  }

 private:
  class Holder final : public grpc::MessageHolder<Request, Response> {
   public:
    Holder() {
      this->set_request(&request_);
      this->set_response(&response_);
    }
    void Release() override { delete this; }

   private:
    Request request_;
    Response response_;
  };
};

}  // namespace weft::daemon
