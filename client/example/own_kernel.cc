// A kernel of one's own, compiled by the server: a polynomial over a constant table of coefficients.
#include <array>
#include <cstdio>
#include <span>
#include <vector>

#include "client/client.h"
#include "client/job_builder.h"

namespace {

constexpr char kSource[] = R"(
__constant__ float coefficients[4];

// y[i] = ((c3 x + c2) x + c1) x + c0
extern "C" __global__ void polynomial(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float value = 0;
  for (int k = 3; k >= 0; --k) value = value * x[i] + coefficients[k];
  y[i] = value;
}
)";

absl::Status Run() {
  const absl::StatusOr<weft::client::Client> client = weft::client::Client::Connect();
  if (!client.ok()) return client.status();

  const std::array<float, 4> coefficients = {1, 0, -2, 3};
  const std::vector<float> x = {0, 1, 2, 3};
  const auto count = static_cast<int32_t>(x.size());

  weft::client::JobBuilder job("own_kernel");
  const auto x_on_device = job.Upload("x", {count}, std::span<const float>(x));
  const auto y_on_device = job.Buffer("y", weft::v1::DATA_TYPE_F32, {count});
  const auto mine = job.CudaModule("mine", kSource);
  job.SetVariable(mine, "coefficients", std::as_bytes(std::span(coefficients)));
  job.UserKernel(mine, "polynomial")
      .Reads(x_on_device)
      .Writes(y_on_device)
      .Value(count)
      .Launch({1, 1, 1}, {64, 1, 1});
  job.Download("y", y_on_device);

  const absl::StatusOr<weft::v1::JobResult> result = client->Run(job.proto());
  if (!result.ok()) return result.status();
  const absl::StatusOr<std::vector<float>> y = weft::client::OutputAs<float>(*result, "y");
  if (!y.ok()) return y.status();
  for (const float value : *y) std::printf("%g\n", static_cast<double>(value));
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "own_kernel: %s\n", status.ToString().c_str());
  return 1;
}
