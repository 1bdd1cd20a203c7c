// weft-bench: every benchmark of Weft in one run, so that its figures may be compared.
//
//   weft-bench --socket=/run/weft/weftd.sock --driver=cuda --benchmark_out=bench.json
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <string>

#include "bench/environment.h"

int main(int argc, char** argv) {
  weft::bench::Environment environment;
  std::string client_worker;
  CLI::App app("Weft's benchmarks. Flags of Google Benchmark (--benchmark_…) are passed on.");
  app.allow_extras();
  app.add_option("--socket", environment.socket,
                 "Socket of the weftd to measure; without it only the bare costs are measured");
  app.add_option("--driver", environment.driver, "Driver of the bare launches and copies")
      ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
      ->envname("WEFT_DRIVER")
      ->default_val("auto");
  app.add_option("--client_seconds", environment.client_seconds,
                 "How long each number of client processes is measured");
  app.add_option("--client_worker", client_worker)->group("");  // set by weft-bench itself
  CLI11_PARSE(app, argc, argv);
  if (!client_worker.empty()) {
    return weft::bench::RunClientWorker(client_worker, environment.client_seconds);
  }

  // Google Benchmark reads its own flags from what is left; the program's name comes first.
  std::vector<std::string> rest = app.remaining();
  rest.insert(rest.begin(), argv[0]);
  std::vector<char*> rest_argv;
  for (std::string& argument : rest) rest_argv.push_back(argument.data());
  int rest_argc = static_cast<int>(rest_argv.size());
  benchmark::Initialize(&rest_argc, rest_argv.data());
  if (benchmark::ReportUnrecognizedArguments(rest_argc, rest_argv.data())) return 2;

  weft::bench::RegisterRoundTrips(environment);
  weft::bench::RegisterClients(environment);
  weft::bench::RegisterProducts(environment);
  weft::bench::RegisterCopies(environment);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
