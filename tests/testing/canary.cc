#include "tests/testing/canary.h"

#include <google/protobuf/text_format.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace weft::testing {
namespace {

constexpr float kSum = 4;

}  // namespace

std::string CanaryJobText() {
  return R"pb(
    name: "canary"
    buffers { name: "x" data_type: DATA_TYPE_F32 shape: 1 }
    nodes {
      name: "two"
      fill {
        dst { buffer: "x" }
        pattern: 0x40000000
        pattern_bytes: 4
      }  # 2 as f32
    }
    nodes {
      name: "double"
      kernel {
        kernel: "scale"
        args {
          name: "x"
          view { buffer: "x" }
        }
        args {
          name: "y"
          view { buffer: "x" }
        }
        args { name: "a" f64: 2 }
      }
    }
    nodes {
      name: "read"
      download {
        src { buffer: "x" }
        output: "sum"
      }
    }
  )pb";
}

v1::Job CanaryJob() {
  v1::Job job;
  google::protobuf::TextFormat::ParseFromString(CanaryJobText(), &job);
  return job;
}

absl::Status CheckCanaryResult(const v1::JobResult& result) {
  float sum = 0;
  const bool is_right = result.info().state() == v1::JOB_STATE_SUCCEEDED &&
                        result.outputs_size() == 1 &&
                        result.outputs(0).data().size() == sizeof(sum);
  if (is_right) std::memcpy(&sum, result.outputs(0).data().data(), sizeof(sum));
  if (sum == kSum) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the canary died: ", result.ShortDebugString()));
}

}  // namespace weft::testing
