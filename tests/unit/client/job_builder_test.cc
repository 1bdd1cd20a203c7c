#include "client/job_builder.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::client {
namespace {

v1::Job FromText(const std::string& text) {
  v1::Job job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job));
  return job;
}

void ExpectJob(const JobBuilder& job, const std::string& text) {
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(job.proto(), FromText(text)))
      << job.proto().DebugString();
}

TEST(JobBuilderTest, BuildsTheJobThatItsCallsRead) {
  const std::vector<uint8_t> pixels = {1, 2, 3, 4};
  JobBuilder job("edges");
  const JobView image = job.Upload("image", {2, 2}, std::span<const uint8_t>(pixels));
  const JobView blurred = job.Buffer("blurred", v1::DATA_TYPE_F32, {2, 2});
  job.Kernel("gaussian_blur").Arg("src", image).Arg("dst", blurred).Arg("sigma", 1.5).Arg("n", 3);
  job.Download("result", blurred);
  ExpectJob(job, R"pb(
    name: "edges"
    buffers {
      name: "image"
      data_type: DATA_TYPE_U8
      shape: [ 2, 2 ]
    }
    buffers {
      name: "blurred"
      data_type: DATA_TYPE_F32
      shape: [ 2, 2 ]
    }
    nodes {
      name: "upload_image"
      upload {
        dst { buffer: "image" }
        data: "\001\002\003\004"
      }
    }
    nodes {
      kernel {
        kernel: "gaussian_blur"
        args {
          name: "src"
          view { buffer: "image" }
        }
        args {
          name: "dst"
          view { buffer: "blurred" }
        }
        args { name: "sigma" f64: 1.5 }
        args { name: "n" i64: 3 }
      }
    }
    nodes {
      download {
        src { buffer: "blurred" }
        output: "result"
      }
    }
  )pb");
}

TEST(JobBuilderTest, CallsOfLibrariesTakeViewsNumbersAndTexts) {
  JobBuilder job;
  const JobView x = job.Buffer("x", v1::DATA_TYPE_F32, {4, 4});
  NodeRef first = job.Empty("first");
  job.Library("blas.matmul")
      .Arg("a", x)
      .Arg("alpha", 0.5)
      .Arg("k", 4)
      .Arg("trans_a", "t")
      .Named("product")
      .After(first);
  ExpectJob(job, R"pb(
    buffers {
      name: "x"
      data_type: DATA_TYPE_F32
      shape: [ 4, 4 ]
    }
    nodes {
      name: "first"
      empty {}
    }
    nodes {
      name: "product"
      after: "first"
      library {
        call: "blas.matmul"
        args {
          name: "a"
          view { buffer: "x" }
        }
        args { name: "alpha" f64: 0.5 }
        args { name: "k" i64: 4 }
        args { name: "trans_a" text: "t" }
      }
    }
  )pb");
}

TEST(JobBuilderTest, OrdersNodesByTheNameThatTheServerWillGiveThem) {
  JobBuilder job;
  const JobView x = job.Buffer("x", v1::DATA_TYPE_U8, {4});
  const NodeRef fill = job.Fill(x, 7, 1);
  const NodeRef gate = job.Empty("gate").After(fill);
  job.Kernel("iota").Arg("dst", x).After(gate).Named("count");
  ExpectJob(job, R"pb(
    buffers { name: "x" data_type: DATA_TYPE_U8 shape: 4 }
    nodes {
      fill {
        dst { buffer: "x" }
        pattern: 7
        pattern_bytes: 1
      }
    }
    nodes {
      name: "gate"
      after: "node0"
      empty {}
    }
    nodes {
      name: "count"
      after: "gate"
      kernel {
        kernel: "iota"
        args {
          name: "dst"
          view { buffer: "x" }
        }
      }
    }
  )pb");
}

TEST(JobBuilderTest, ViewsNameTheirPartAndShape) {
  JobBuilder job;
  const JobView x = job.Shared("x", "#7");
  job.Copy(x.Range(16, 32).Reshaped({2, 4}), x.Range(64, 32));
  job.Kernel("k").Launch({1, 2, 3}, {4, 5, 6});
  job.options().set_device(1);
  ExpectJob(job, R"pb(
    buffers { name: "x" shared: "#7" }
    nodes {
      copy {
        src {
          buffer: "x"
          offset_bytes: 16
          size_bytes: 32
          shape: [ 2, 4 ]
        }
        dst { buffer: "x" offset_bytes: 64 size_bytes: 32 }
      }
    }
    nodes {
      kernel {
        kernel: "k"
        launch { grid_x: 1 grid_y: 2 grid_z: 3 block_x: 4 block_y: 5 block_z: 6 }
      }
    }
    options { device: 1 }
  )pb");
}

TEST(JobBuilderTest, NodesStayValidWhenTheBuilderMovesAndGrows) {
  JobBuilder first;
  NodeRef node = first.Empty("a");
  JobBuilder job = std::move(first);
  for (int i = 0; i < 100; ++i) job.Empty("");
  node.Named("b");
  EXPECT_EQ(job.proto().nodes(0).name(), "b");
}

TEST(JobBuilderTest, DataTypesFollowFromElements) {
  EXPECT_EQ(DataTypeOf<float>(), v1::DATA_TYPE_F32);
  EXPECT_EQ(DataTypeOf<double>(), v1::DATA_TYPE_F64);
  EXPECT_EQ(DataTypeOf<int8_t>(), v1::DATA_TYPE_I8);
  EXPECT_EQ(DataTypeOf<uint16_t>(), v1::DATA_TYPE_U16);
  EXPECT_EQ(DataTypeOf<int32_t>(), v1::DATA_TYPE_I32);
  EXPECT_EQ(DataTypeOf<uint64_t>(), v1::DATA_TYPE_U64);
}

}  // namespace
}  // namespace weft::client
