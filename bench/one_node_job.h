// The job that every end-to-end figure repeats: one kernel node, nothing up- or downloaded.
#pragma once

#include <cstdint>

#include "client/job_builder.h"

namespace weft::bench {

inline constexpr int64_t kElements = 256;

inline client::JobBuilder OneNodeJob() {
  client::JobBuilder job("one_node");
  const client::JobView values = job.Buffer("values", v1::DATA_TYPE_F32, {kElements});
  job.Kernel("fill").Arg("dst", values).Arg("value", 1.0);
  return job;
}

}  // namespace weft::bench
