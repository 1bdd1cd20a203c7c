#include "tests/testing/canary.h"

#include <grpcpp/grpcpp.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "weft/v1/service.grpc.pb.h"

namespace weft::testing {
namespace {

constexpr int kElements = 100;

// x = 1.0 everywhere (its bits, as a fill of 4 bytes); y = 2 · x; y is the output.
v1::Job CanaryJob(uint32_t device) {
  v1::Job job;
  job.set_name("canary");
  job.mutable_options()->set_device(device);
  for (const char* name : {"x", "y"}) {
    v1::BufferDecl& buffer = *job.add_buffers();
    buffer.set_name(name);
    buffer.set_data_type(v1::DATA_TYPE_F32);
    buffer.add_shape(kElements);
  }
  v1::FillNode& fill = *job.add_nodes()->mutable_fill();
  fill.mutable_dst()->set_buffer("x");
  fill.set_pattern(0x3f800000);
  fill.set_pattern_bytes(4);
  v1::KernelNode& add = *job.add_nodes()->mutable_kernel();
  add.set_kernel("add");
  for (const auto& [argument, buffer] :
       {std::pair("a", "x"), std::pair("b", "x"), std::pair("out", "y")}) {
    v1::Argument& arg = *add.add_args();
    arg.set_name(argument);
    arg.mutable_view()->set_buffer(buffer);
  }
  v1::DownloadNode& download = *job.add_nodes()->mutable_download();
  download.mutable_src()->set_buffer("y");
  download.set_output("y");
  return job;
}

}  // namespace

absl::Status RunCanary(const std::string& socket, uint32_t device) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  const auto channel =
      grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
  grpc::ClientContext context;
  v1::SubmitRequest request;
  v1::SubmitResponse response;
  *request.mutable_job() = CanaryJob(device);
  request.set_wait(true);
  const grpc::Status status =
      v1::JobService::NewStub(channel)->Submit(&context, request, &response);
  if (!status.ok()) {
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                        absl::StrCat("canary: ", status.error_message()));
  }
  const v1::JobResult& result = response.result();
  if (result.info().state() != v1::JOB_STATE_SUCCEEDED || result.outputs_size() != 1) {
    return absl::InternalError(absl::StrCat("canary: ", result.info().ShortDebugString()));
  }
  const std::string& bytes = result.outputs(0).data();
  if (bytes.size() != kElements * sizeof(float)) {
    return absl::InternalError(absl::StrCat("canary: ", bytes.size(), " bytes"));
  }
  for (int i = 0; i < kElements; ++i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    if (value != 2.0f) return absl::DataLossError(absl::StrCat("canary: y[", i, "] is ", value));
  }
  return absl::OkStatus();
}

}  // namespace weft::testing
