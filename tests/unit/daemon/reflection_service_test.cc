#include "server/daemon/reflection_service.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using Request = grpc::reflection::v1alpha::ServerReflectionRequest;
using Response = grpc::reflection::v1alpha::ServerReflectionResponse;

class ReflectionServiceTest : public ::testing::Test {
 protected:
  // The names of the files that the answer holds.
  static std::vector<std::string> FilesOf(const Response& response) {
    std::vector<std::string> names;
    for (const std::string& file : response.file_descriptor_response().file_descriptor_proto()) {
      google::protobuf::FileDescriptorProto descriptor;
      EXPECT_TRUE(descriptor.ParseFromString(file));
      names.push_back(descriptor.name());
    }
    return names;
  }

  ReflectionService service_{{"weft.v1.JobService", "grpc.health.v1.Health"}};
  Request request_;
};

TEST_F(ReflectionServiceTest, ListsTheServicesItWasGiven) {
  request_.set_list_services("");
  const Response response = service_.Answer(request_);
  std::vector<std::string> names;
  for (const auto& service : response.list_services_response().service()) {
    names.push_back(service.name());
  }
  EXPECT_THAT(names, ElementsAre("weft.v1.JobService", "grpc.health.v1.Health"));
}

TEST_F(ReflectionServiceTest, RepeatsTheRequestAndItsHost) {
  request_.set_host("here");
  request_.set_list_services("");
  const Response response = service_.Answer(request_);
  EXPECT_EQ(response.valid_host(), "here");
  EXPECT_EQ(response.original_request().SerializeAsString(), request_.SerializeAsString());
}

TEST_F(ReflectionServiceTest, AFileComesWithEverythingThatItImports) {
  request_.set_file_by_filename("weft/v1/service.proto");
  const std::vector<std::string> files = FilesOf(service_.Answer(request_));
  ASSERT_FALSE(files.empty());
  EXPECT_EQ(files.front(), "weft/v1/service.proto");
  EXPECT_THAT(files, IsSupersetOf({"weft/v1/job.proto", "weft/v1/kernel.proto"}));
}

TEST_F(ReflectionServiceTest, ASymbolIsFoundInItsFile) {
  request_.set_file_containing_symbol("weft.v1.JobService.Submit");
  const std::vector<std::string> files = FilesOf(service_.Answer(request_));
  ASSERT_FALSE(files.empty());
  EXPECT_EQ(files.front(), "weft/v1/service.proto");
}

TEST_F(ReflectionServiceTest, WhatIsNotThereIsNotFound) {
  Request extension;
  extension.mutable_file_containing_extension()->set_containing_type("weft.v1.Job");
  extension.mutable_file_containing_extension()->set_extension_number(7);
  Request file;
  file.set_file_by_filename("../etc/passwd");
  Request symbol;
  symbol.set_file_containing_symbol("weft.v1.Nothing");
  Request type;
  type.set_all_extension_numbers_of_type("");
  for (const Request& request : {extension, file, symbol, type}) {
    EXPECT_EQ(service_.Answer(request).error_response().error_code(), grpc::StatusCode::NOT_FOUND)
        << request.ShortDebugString();
  }
}

TEST_F(ReflectionServiceTest, ARequestForNothingIsInvalid) {
  EXPECT_EQ(service_.Answer(request_).error_response().error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ReflectionServiceTest, AMessageWithoutExtensionsHasNone) {
  request_.set_all_extension_numbers_of_type("weft.v1.Job");
  const Response response = service_.Answer(request_);
  EXPECT_EQ(response.all_extension_numbers_response().base_type_name(), "weft.v1.Job");
  EXPECT_EQ(response.all_extension_numbers_response().extension_number_size(), 0);
}

}  // namespace
}  // namespace weft::daemon
