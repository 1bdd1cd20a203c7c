#include "server/daemon/reflection_service.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/grpcpp.h>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace weft::daemon {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using Request = grpc::reflection::v1alpha::ServerReflectionRequest;
using Response = grpc::reflection::v1alpha::ServerReflectionResponse;

void SetNotFound(const std::string& what, Response& response) {
  response.mutable_error_response()->set_error_code(grpc::StatusCode::NOT_FOUND);
  response.mutable_error_response()->set_error_message(absl::StrCat(what, " is not served here."));
}

// The file and, after it, everything that it imports.
void SetFiles(const FileDescriptor* file, const std::string& what, Response& response) {
  if (file == nullptr) return SetNotFound(what, response);
  std::vector<const FileDescriptor*> todo = {file};
  absl::flat_hash_set<const FileDescriptor*> seen = {file};
  while (!todo.empty()) {
    const FileDescriptor* next = todo.back();
    todo.pop_back();
    google::protobuf::FileDescriptorProto descriptor;
    next->CopyTo(&descriptor);
    response.mutable_file_descriptor_response()->add_file_descriptor_proto(
        descriptor.SerializeAsString());
    for (int i = 0; i < next->dependency_count(); ++i) {
      if (seen.insert(next->dependency(i)).second) todo.push_back(next->dependency(i));
    }
  }
}

void SetExtensions(const std::string& type, Response& response) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  const google::protobuf::Descriptor* message = pool.FindMessageTypeByName(type);
  if (message == nullptr) return SetNotFound(type, response);
  response.mutable_all_extension_numbers_response()->set_base_type_name(type);
  std::vector<const google::protobuf::FieldDescriptor*> extensions;
  pool.FindAllExtensions(message, &extensions);
  for (const google::protobuf::FieldDescriptor* extension : extensions) {
    response.mutable_all_extension_numbers_response()->add_extension_number(extension->number());
  }
}

// Reads a request, answers it, reads the next.
class Call final : public grpc::ServerBidiReactor<Request, Response> {
 public:
  explicit Call(const ReflectionService& service) : service_(service) { StartRead(&request_); }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    response_ = service_.Answer(request_);
    StartWrite(&response_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the caller went away"));
    StartRead(&request_);
  }
  void OnDone() override { delete this; }

  const ReflectionService& service_;
  Request request_;
  Response response_;
};

}  // namespace

Response ReflectionService::Answer(const Request& request) const {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  Response response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case Request::kFileByFilename:
      SetFiles(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(),
               response);
      break;
    case Request::kFileContainingSymbol:
      SetFiles(pool.FindFileContainingSymbol(request.file_containing_symbol()),
               request.file_containing_symbol(), response);
      break;
    case Request::kFileContainingExtension: {
      const auto& wanted = request.file_containing_extension();
      const auto* type = pool.FindMessageTypeByName(wanted.containing_type());
      const auto* field =
          type == nullptr ? nullptr : pool.FindExtensionByNumber(type, wanted.extension_number());
      SetFiles(field == nullptr ? nullptr : field->file(),
               absl::StrCat(wanted.containing_type(), " extension ", wanted.extension_number()),
               response);
      break;
    }
    case Request::kAllExtensionNumbersOfType:
      SetExtensions(request.all_extension_numbers_of_type(), response);
      break;
    case Request::kListServices:
      for (const std::string& name : services_) {
        response.mutable_list_services_response()->add_service()->set_name(name);
      }
      break;
    case Request::MESSAGE_REQUEST_NOT_SET:
      response.mutable_error_response()->set_error_code(grpc::StatusCode::INVALID_ARGUMENT);
      response.mutable_error_response()->set_error_message("the request asks for nothing.");
      break;
  }
  return response;
}

grpc::ServerBidiReactor<Request, Response>* ReflectionService::ServerReflectionInfo(
    grpc::CallbackServerContext*) {
  return std::make_unique<Call>(*this).release();  // ends itself in OnDone
}

}  // namespace weft::daemon
