// What the benchmarks were told on the command line.
#pragma once

#include <string>

namespace weft::bench {

struct Environment {
  std::string socket;  // of a running weftd; empty: no benchmark that needs one is registered
  std::string driver;  // "auto", "cuda" or "cpu": the driver of the bare launches and copies
  double client_seconds = 2;  // how long each number of client processes is measured
};

// Each registers its benchmarks. `environment` outlives them.
void RegisterRoundTrips(const Environment& environment);
void RegisterClients(const Environment& environment);
void RegisterProducts(const Environment& environment);
void RegisterCopies(const Environment& environment);

// The body of a client process of RegisterClients; see clients_bench.cc. Returns its exit code.
int RunClientWorker(const std::string& socket, double seconds);

}  // namespace weft::bench
