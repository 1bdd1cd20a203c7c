// What one repeated job costs, beside what cannot be avoided: a bare gRPC call and a bare launch.
#include <benchmark/benchmark.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "bench/bare_graph.h"
#include "bench/child_process.h"
#include "bench/environment.h"
#include "bench/one_node_job.h"
#include "client/client.h"
#include "weft/bench/v1/echo.grpc.pb.h"

namespace weft::bench {
namespace {

constexpr size_t kPayloadBytes = 64;
constexpr int kWarmUpCalls = 200;
constexpr int kCallsPerBlock = 200;

// An echo server in a process of its own and a channel to it.
class Echo {
 public:
  static absl::StatusOr<std::unique_ptr<Echo>> Start(const std::string& mode) {
    const std::string socket = absl::StrCat("/tmp/weft-bench-", ::getpid(), "-", mode, ".sock");
    WEFT_ASSIGN_OR_RETURN(
        ChildProcess server,
        ChildProcess::Start({ProgramFolder() + "/weft-bench-echo", socket, mode}));
    WEFT_RETURN_IF_ERROR(server.ReadLine().status());
    auto channel = grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials());
    return std::unique_ptr<Echo>(new Echo(std::move(server), v1::EchoService::NewStub(channel)));
  }

  absl::Status Call() {
    grpc::ClientContext context;
    response_.Clear();
    const grpc::Status status = stub_->Echo(&context, request_, &response_);
    return status.ok() ? absl::OkStatus() : absl::UnavailableError(status.error_message());
  }

 private:
  Echo(ChildProcess server, std::unique_ptr<v1::EchoService::Stub> stub)
      : server_(std::move(server)), stub_(std::move(stub)) {
    request_.set_payload(std::string(kPayloadBytes, 'x'));
  }

  ChildProcess server_;
  std::unique_ptr<v1::EchoService::Stub> stub_;
  v1::EchoRequest request_;
  v1::EchoResponse response_;
};

using Call = std::function<absl::Status()>;

absl::Status Repeat(const Call& call, int count) {
  for (int i = 0; i < count; ++i) WEFT_RETURN_IF_ERROR(call());
  return absl::OkStatus();
}

// The body of a benchmark that times one call an iteration.
void TimeCalls(benchmark::State& state, const absl::StatusOr<Call>& call) {
  absl::Status status = call.ok() ? Repeat(*call, kWarmUpCalls) : call.status();
  for (auto _ : state) {
    if (status.ok()) status = (*call)();
    if (!status.ok()) {
      state.SkipWithError(std::string(status.message()).c_str());
      return;
    }
  }
}

absl::StatusOr<Call> EchoCall(const std::string& mode) {
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Echo> echo, Echo::Start(mode));
  return Call([echo] { return echo->Call(); });
}

absl::StatusOr<Call> BareLaunchCall(const std::string& driver) {
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<BareGraph> graph, BareGraph::Create(driver));
  return Call([graph] { return graph->LaunchAndWait(); });
}

absl::StatusOr<Call> SubmitCall(const std::string& socket) {
  WEFT_ASSIGN_OR_RETURN(client::Client client, client::Client::Connect({.socket = socket}));
  return Call([client, job = OneNodeJob().proto()] { return client.Run(job).status(); });
}

absl::StatusOr<Call> PreparedCall(const std::string& socket) {
  WEFT_ASSIGN_OR_RETURN(client::Client client, client::Client::Connect({.socket = socket}));
  WEFT_ASSIGN_OR_RETURN(client::PreparedGraph prepared, client.Prepare(OneNodeJob().proto()));
  auto graph = std::make_shared<client::PreparedGraph>(std::move(prepared));
  return Call([graph] { return graph->Launch().status(); });
}

// Mean microseconds of a call, over one block of calls.
absl::StatusOr<double> TimeBlock(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  WEFT_RETURN_IF_ERROR(Repeat(call, kCallsPerBlock));
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count() / kCallsPerBlock;
}

struct Means {
  double unary_us = 0;
  double launch_us = 0;
  double job_us = 0;
};

absl::Status AddBlocks(const Call& unary, const Call& launch, const Call& job, Means& sums) {
  WEFT_ASSIGN_OR_RETURN(const double unary_us, TimeBlock(unary));
  WEFT_ASSIGN_OR_RETURN(const double launch_us, TimeBlock(launch));
  WEFT_ASSIGN_OR_RETURN(const double job_us, TimeBlock(job));
  sums.unary_us += unary_us;
  sums.launch_us += launch_us;
  sums.job_us += job_us;
  return absl::OkStatus();
}

// Blocks of the three in turn, so that a change of the machine's speed hits all of them alike.
void MeasureRatio(benchmark::State& state, const Environment& environment) {
  const absl::StatusOr<Call> unary = EchoCall("callback");
  const absl::StatusOr<Call> launch = BareLaunchCall(environment.driver);
  const absl::StatusOr<Call> job = SubmitCall(environment.socket);
  absl::Status status;
  for (const absl::StatusOr<Call>* call : {&unary, &launch, &job}) {
    if (status.ok()) status = call->ok() ? Repeat(**call, kWarmUpCalls) : call->status();
  }
  Means sums;
  for (auto _ : state) {
    if (status.ok()) status = AddBlocks(*unary, *launch, *job, sums);
    if (!status.ok()) {
      state.SkipWithError(std::string(status.message()).c_str());
      return;
    }
  }
  const auto blocks = static_cast<double>(state.iterations());
  state.counters["unary_us"] = sums.unary_us / blocks;
  state.counters["launch_us"] = sums.launch_us / blocks;
  state.counters["job_us"] = sums.job_us / blocks;
  state.counters["ratio"] = sums.job_us / (sums.unary_us + sums.launch_us);
}

void RegisterCalls(const std::string& name, std::function<absl::StatusOr<Call>()> make) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [make](benchmark::State& state) { TimeCalls(state, make()); })
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

void RegisterRoundTrips(const Environment& environment) {
  RegisterCalls("grpc_unary/sync_server", [] { return EchoCall("sync"); });
  RegisterCalls("grpc_unary/callback_server", [] { return EchoCall("callback"); });
  RegisterCalls("graph_launch/one_node",
                [&environment] { return BareLaunchCall(environment.driver); });
  if (environment.socket.empty()) return;
  RegisterCalls("repeated_job/submit_and_wait",
                [&environment] { return SubmitCall(environment.socket); });
  RegisterCalls("repeated_job/launch_prepared",
                [&environment] { return PreparedCall(environment.socket); });
  benchmark::RegisterBenchmark(
      "repeated_job/over_bare_cost",
      [&environment](benchmark::State& state) { MeasureRatio(state, environment); })
      ->UseRealTime()
      ->Iterations(20)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace weft::bench
