// A mock of Connection, for tests of programs that use the client library (needs GoogleMock).
//
//   auto connection = std::make_shared<::testing::NiceMock<weft::client::MockConnection>>();
//   EXPECT_CALL(*connection, Submit).WillOnce(Return(response));
//   Program program(weft::client::Client(connection));
#pragma once

#include <gmock/gmock.h>

#include "client/connection.h"

namespace weft::client {

class MockConnection : public Connection {
 public:
  MOCK_METHOD(absl::StatusOr<v1::SubmitResponse>, Submit, (const v1::SubmitRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::WaitResponse>, Wait, (const v1::WaitRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::GetJobResponse>, GetJob, (const v1::GetJobRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::ListJobsResponse>, ListJobs, (const v1::ListJobsRequest&),
              (override));
  MOCK_METHOD(absl::StatusOr<v1::CancelResponse>, Cancel, (const v1::CancelRequest&), (override));
  MOCK_METHOD(absl::Status, Watch, (const v1::WatchRequest&, const WatchCallback&), (override));
  MOCK_METHOD(void, SubmitAsync, (const v1::SubmitRequest&, Callback<v1::SubmitResponse>),
              (override));
  MOCK_METHOD(void, WaitAsync, (const v1::WaitRequest&, Callback<v1::WaitResponse>), (override));
  MOCK_METHOD(absl::StatusOr<v1::CreateBufferResponse>, CreateBuffer,
              (const v1::CreateBufferRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::GetBufferResponse>, GetBuffer, (const v1::GetBufferRequest&),
              (override));
  MOCK_METHOD(absl::StatusOr<v1::ListBuffersResponse>, ListBuffers, (const v1::ListBuffersRequest&),
              (override));
  MOCK_METHOD(absl::StatusOr<v1::DeleteBufferResponse>, DeleteBuffer,
              (const v1::DeleteBufferRequest&), (override));
  MOCK_METHOD(absl::StatusOr<v1::WriteBufferResponse>, Write,
              (const v1::BufferRef&, uint64_t, std::span<const std::byte>), (override));
  MOCK_METHOD(absl::Status, Read, (const v1::ReadBufferRequest&, const ChunkCallback&), (override));
  MOCK_METHOD(absl::StatusOr<v1::PrepareResponse>, Prepare, (const v1::PrepareRequest&),
              (override));
  MOCK_METHOD(absl::StatusOr<v1::LaunchResponse>, Launch, (const v1::LaunchRequest&), (override));
  MOCK_METHOD(void, LaunchAsync, (const v1::LaunchRequest&, Callback<v1::LaunchResponse>),
              (override));
  MOCK_METHOD(absl::StatusOr<v1::ReleaseResponse>, Release, (const v1::ReleaseRequest&),
              (override));
  MOCK_METHOD(absl::StatusOr<v1::ListDevicesResponse>, ListDevices, (const v1::ListDevicesRequest&),
              (override));
  MOCK_METHOD(absl::StatusOr<v1::ListKernelsResponse>, ListKernels, (const v1::ListKernelsRequest&),
              (override));
  MOCK_METHOD(absl::StatusOr<v1::GetStatusResponse>, GetStatus, (const v1::GetStatusRequest&),
              (override));
};

}  // namespace weft::client
