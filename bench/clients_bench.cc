// Jobs per second from 1 to 8 client processes at once, each repeating the one-node job.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "bench/child_process.h"
#include "bench/environment.h"
#include "bench/one_node_job.h"
#include "client/client.h"

namespace weft::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct WorkerReport {
  double jobs = 0;
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
};

// Runs the job until the time is over; the duration of each in microseconds.
absl::StatusOr<std::vector<double>> MeasureJobs(const client::Client& client, double seconds) {
  const client::JobBuilder job = OneNodeJob();
  std::vector<double> durations_us;
  const auto end = SteadyClock::now() + std::chrono::duration<double>(seconds);
  auto now = SteadyClock::now();
  while (now < end) {
    WEFT_RETURN_IF_ERROR(client.Run(job.proto()).status());
    const auto done = SteadyClock::now();
    durations_us.push_back(std::chrono::duration<double, std::micro>(done - now).count());
    now = done;
  }
  return durations_us;
}

absl::StatusOr<WorkerReport> ParseReport(const std::string& line) {
  const std::vector<std::string> fields = absl::StrSplit(line, ' ');
  WorkerReport report;
  if (fields.size() != 4 || !absl::SimpleAtod(fields[0], &report.jobs) ||
      !absl::SimpleAtod(fields[1], &report.p50_us) ||
      !absl::SimpleAtod(fields[2], &report.p99_us) ||
      !absl::SimpleAtod(fields[3], &report.max_us)) {
    return absl::InternalError("a client process reported: " + line);
  }
  return report;
}

// One report a client process; they start together once all are connected.
absl::StatusOr<std::vector<WorkerReport>> RunWorkers(const Environment& environment, int count) {
  std::vector<ChildProcess> workers;
  for (int i = 0; i < count; ++i) {
    WEFT_ASSIGN_OR_RETURN(
        ChildProcess worker,
        ChildProcess::Start({ProgramFolder() + "/weft-bench",
                             "--client_worker=" + environment.socket,
                             absl::StrCat("--client_seconds=", environment.client_seconds)}));
    workers.push_back(std::move(worker));
  }
  for (ChildProcess& worker : workers) WEFT_RETURN_IF_ERROR(worker.ReadLine().status());
  for (ChildProcess& worker : workers) WEFT_RETURN_IF_ERROR(worker.WriteLine("go"));
  std::vector<WorkerReport> reports;
  for (ChildProcess& worker : workers) {
    WEFT_ASSIGN_OR_RETURN(const std::string line, worker.ReadLine());
    WEFT_ASSIGN_OR_RETURN(const WorkerReport report, ParseReport(line));
    reports.push_back(report);
  }
  return reports;
}

void MeasureClients(benchmark::State& state, const Environment& environment) {
  for (auto _ : state) {
    const absl::StatusOr<std::vector<WorkerReport>> reports =
        RunWorkers(environment, static_cast<int>(state.range(0)));
    if (!reports.ok()) {
      state.SkipWithError(std::string(reports.status().message()).c_str());
      return;
    }
    double jobs = 0, p50 = 0, p99 = 0, slowest = 0;
    for (const WorkerReport& report : *reports) {
      jobs += report.jobs;
      p50 += report.p50_us / static_cast<double>(reports->size());
      p99 = std::max(p99, report.p99_us);
      slowest = std::max(slowest, report.max_us);
    }
    state.SetIterationTime(environment.client_seconds);
    state.counters["jobs_per_s"] = jobs / environment.client_seconds;
    state.counters["p50_us"] = p50;
    state.counters["p99_us"] = p99;
    state.counters["max_us"] = slowest;
  }
}

absl::Status RunClientWorkerOrError(const std::string& socket, double seconds) {
  WEFT_ASSIGN_OR_RETURN(const client::Client client, client::Client::Connect({.socket = socket}));
  WEFT_RETURN_IF_ERROR(client.Run(OneNodeJob().proto()).status());  // prepares the graph
  std::cout << "ready" << std::endl;
  std::string go;
  std::getline(std::cin, go);
  if (go != "go") return absl::CancelledError("the benchmark ended");
  WEFT_ASSIGN_OR_RETURN(std::vector<double> durations_us, MeasureJobs(client, seconds));
  std::sort(durations_us.begin(), durations_us.end());
  const size_t count = durations_us.size();
  std::cout << count << " " << durations_us[count / 2] << " " << durations_us[count * 99 / 100]
            << " " << durations_us.back() << std::endl;
  return absl::OkStatus();
}

}  // namespace

int RunClientWorker(const std::string& socket, double seconds) {
  const absl::Status status = RunClientWorkerOrError(socket, seconds);
  if (status.ok()) return 0;
  std::cerr << "client process: " << status.message() << std::endl;
  return 1;
}

void RegisterClients(const Environment& environment) {
  if (environment.socket.empty()) return;
  benchmark::RegisterBenchmark(
      "job_rate/clients",
      [&environment](benchmark::State& state) { MeasureClients(state, environment); })
      ->DenseRange(1, 8)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kSecond);
}

}  // namespace weft::bench
