// y = 2 x + y on a device of weftd.
#include <cstdio>
#include <span>
#include <vector>

#include "client/client.h"
#include "client/job_builder.h"

namespace {

absl::Status Run() {
  const absl::StatusOr<weft::client::Client> client = weft::client::Client::Connect();
  if (!client.ok()) return client.status();

  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<float> y = {10, 20, 30, 40};
  weft::client::JobBuilder job("saxpy");
  const auto x_on_device = job.Upload("x", {4}, std::span<const float>(x));
  const auto y_on_device = job.Upload("y", {4}, std::span<const float>(y));
  job.Kernel("axpy").Arg("x", x_on_device).Arg("y", y_on_device).Arg("a", 2.0);
  job.Download("result", y_on_device);

  const absl::StatusOr<weft::v1::JobResult> result = client->Run(job.proto());
  if (!result.ok()) return result.status();
  const absl::StatusOr<std::vector<float>> sums = weft::client::OutputAs<float>(*result, "result");
  if (!sums.ok()) return sums.status();
  for (const float sum : *sums) std::printf("%g\n", static_cast<double>(sum));
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "saxpy: %s\n", status.ToString().c_str());
  return 1;
}
