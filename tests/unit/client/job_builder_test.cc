#include "client/job_builder.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
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

TEST(JobBuilderTest, KernelsOfOnesOwnHaveTypedParameters) {
  JobBuilder job;
  const JobView x = job.Buffer("x", v1::DATA_TYPE_F32, {4});
  ModuleRef mine = job.CudaModule("mine", "source");
  mine.Option("-DN=4").Header("a.h", "text");
  job.UserKernel(mine, "k<float>")
      .Reads(x)
      .Writes(x)
      .Updates(x)
      .Value(int8_t{-1})
      .Value(uint8_t{1})
      .Value(true)
      .Value(int16_t{-2})
      .Value(uint16_t{2})
      .Value(-3)
      .Value(3U)
      .Value(int64_t{-4})
      .Value(uint64_t{4})
      .Value(0.5F)
      .Value(0.25)
      .Half(1)
      .Bfloat16(2)
      .Launch({2, 1, 1}, {64, 1, 1}, 1024)
      .Cluster({2, 1, 1})
      .Cooperative()
      .Priority(5)
      .Named("n");
  ExpectJob(job, R"pb(
    buffers { name: "x" data_type: DATA_TYPE_F32 shape: 4 }
    modules {
      name: "mine"
      cuda: "source"
      options: "-DN=4"
      headers { name: "a.h" text: "text" }
    }
    nodes {
      name: "n"
      user_kernel {
        module: "mine"
        entry: "k<float>"
        params {
          view { buffer: "x" }
          access: ACCESS_READ
        }
        params {
          view { buffer: "x" }
          access: ACCESS_WRITE
        }
        params {
          view { buffer: "x" }
          access: ACCESS_READ_WRITE
        }
        params { i8: -1 }
        params { u8: 1 }
        params { u8: 1 }
        params { i16: -2 }
        params { u16: 2 }
        params { i32: -3 }
        params { u32: 3 }
        params { i64: -4 }
        params { u64: 4 }
        params { f32: 0.5 }
        params { f64: 0.25 }
        params { f16: 1 }
        params { bf16: 2 }
        launch { grid_x: 2 grid_y: 1 grid_z: 1 block_x: 64 block_y: 1 block_z: 1 }
        shared_bytes: 1024
        cluster { x: 2 y: 1 z: 1 }
        cooperative: true
        priority: 5
      }
    })pb");
}

TEST(JobBuilderTest, VariablesOfAModuleAreSetFromViewsAndBytes) {
  JobBuilder job;
  const JobView x = job.Buffer("x", v1::DATA_TYPE_U8, {2});
  const ModuleRef mine = job.PtxModule("mine", "text");
  const std::array<std::byte, 2> bytes = {std::byte{1}, std::byte{2}};
  job.SetVariable(mine, "a", x);
  job.SetVariable(mine, "b", bytes);
  ExpectJob(job, R"pb(
    buffers { name: "x" data_type: DATA_TYPE_U8 shape: 2 }
    modules { name: "mine" ptx: "text" }
    nodes {
      symbol {
        module: "mine"
        symbol: "a"
        src { buffer: "x" }
      }
    }
    nodes { symbol { module: "mine" symbol: "b" data: "\001\002" } })pb");
}

TEST(JobBuilderTest, AHostOutputIsADownloadThatIsDeliveredWhenReady) {
  JobBuilder job("early");
  const JobView x = job.Buffer("x", v1::DATA_TYPE_F32, {2});
  job.HostOutput("seen", x);
  const v1::DownloadNode& download = job.proto().nodes(0).download();
  EXPECT_EQ(download.output(), "seen");
  EXPECT_EQ(download.src().buffer(), "x");
  EXPECT_EQ(download.delivery(), v1::DownloadNode::DELIVERY_WHEN_READY);
}

}  // namespace
}  // namespace weft::client
