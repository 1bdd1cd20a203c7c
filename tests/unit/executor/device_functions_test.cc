#include "server/executor/device_functions.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/library/library_schemas.h"
#include "kernels/registry.h"
#include "server/executor/library_arguments.h"
#include "tests/testing/status_matchers.h"
#include "tests/unit/executor/test_device.h"

namespace weft::executor {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using weft::testing::StatusIs;

class DeviceFunctionsTest : public ::testing::Test {
 protected:
  // A bound product of 2 × 3 and 3 × 4, and a transform of 5 pairs.
  void BindProduct(std::vector<kernels::GivenArgument> more = {}) {
    std::vector<kernels::GivenArgument> given = {
        {"a", Floats(a_)}, {"b", Floats(b_)}, {"d", Floats(d_)}};
    given.insert(given.end(), more.begin(), more.end());
    schema_ = kernels::Registry::Library().Find("blas.matmul");
    Bind(given);
  }
  void BindTransform() {
    schema_ = kernels::Registry::Library().Find("fft.c2c_1d");
    Bind({{"src", Floats(pairs_)},
          {"dst", Floats(pairs_)},
          {"direction", absl::string_view("inverse")}});
  }
  void BindSelection() {
    schema_ = kernels::Registry::Library().Find("prim.select");
    Bind({{"src", Floats(a_)},
          {"flags", kernels::GivenBuffer{kernels::DType::kU8, a_, 6, 0, {}}},
          {"dst", Floats(a_)},
          {"count", kernels::GivenBuffer{kernels::DType::kI64, {}, 8, 0, {}}}});
  }
  void BindHistogram() {
    schema_ = kernels::Registry::Library().Find("prim.histogram");
    Bind({{"src", Floats(a_)},
          {"counts", kernels::GivenBuffer{kernels::DType::kU32, {}, 32, 0, {}}},
          {"lower", kernels::Number(-1.5)},
          {"upper", kernels::Number(2.5)}});
  }
  build::LibraryRequest Request() const {
    return build::LibraryRequest{*schema_, call_, addresses_, 4096, call_.workspace_bytes};
  }

  std::vector<uint64_t> a_ = {2, 3}, b_ = {3, 4}, d_ = {2, 4};
  const std::vector<uint64_t> pairs_ = {5, 2};

 private:
  static kernels::GivenBuffer Floats(const std::vector<uint64_t>& shape) {
    return {kernels::DType::kF32, shape, shape[0] * shape[1] * 4, 0, {}};
  }
  // The address of argument i is 256 (i + 1).
  void Bind(const std::vector<kernels::GivenArgument>& given) {
    kernels::BindResult bound = kernels::Bind(*schema_, given);
    ASSERT_TRUE(bound.ok()) << bound.violations[0].description;
    call_ = std::move(bound.call);
    addresses_.assign(schema_->arguments.size(), 0);
    for (uint32_t i = 0; i < addresses_.size(); ++i) {
      const bool is_given = schema_->arguments[i].buffer() != nullptr && call_.IsGiven(i);
      if (is_given) addresses_[i] = 256 * (i + 1);
    }
  }

  const kernels::KernelSchema* schema_ = nullptr;
  kernels::BoundCall call_;
  std::vector<uint64_t> addresses_;
};

// Points a variable at a file that is not there, for the life of the object.
class MissingLibrary {
 public:
  explicit MissingLibrary(const char* variable) : variable_(variable) {
    ::setenv(variable, "/nowhere/library.so", 1);
  }
  ~MissingLibrary() { ::unsetenv(variable_); }
  MissingLibrary(const MissingLibrary&) = delete;
  MissingLibrary& operator=(const MissingLibrary&) = delete;

 private:
  const char* variable_;
};

TEST_F(DeviceFunctionsTest, OnACpuDeviceCallsAreKernelsOfTheTwinsImage) {
  const cuda::Context context = MakeContext();
  ModuleStore modules(context);
  DeviceFunctions functions(context, DeviceFunctions::Device::kCpu, modules);
  BindProduct();
  ASSERT_OK_AND_ASSIGN(const auto call, functions.ResolveLibrary(Request()));
  EXPECT_EQ(call, nullptr);
  EXPECT_OK(functions.Resolve("weft_blas_matmul_f32"));
  EXPECT_OK(functions.Resolve("weft_fft_c2r_3d_f64"));
}

TEST_F(DeviceFunctionsTest, AMissingLibraryFailsTheCallAndSaysWhatToInstall) {
  const cuda::Context context = MakeContext();
  ModuleStore modules(context);
  DeviceFunctions functions(context, DeviceFunctions::Device::kGpu, modules);
  const MissingLibrary no_blas("WEFT_CUBLASLT");
  const MissingLibrary no_fft("WEFT_CUFFT");
  const MissingLibrary no_prim("WEFT_PRIM");
  BindProduct();
  EXPECT_THAT(functions.ResolveLibrary(Request()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("cuBLASLt"), HasSubstr("/nowhere/library.so"),
                             HasSubstr("libcublas"), HasSubstr("WEFT_CUBLASLT"))));
  BindTransform();
  EXPECT_THAT(functions.ResolveLibrary(Request()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("cuFFT"), HasSubstr("libcufft"), HasSubstr("WEFT_CUFFT"))));
  BindSelection();
  EXPECT_THAT(functions.ResolveLibrary(Request()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("prim.gpu.so"), HasSubstr("/nowhere/library.so"),
                             HasSubstr("WEFT_PRIM"))));
}

TEST_F(DeviceFunctionsTest, AProductHasTheJobsExtentsAndAddresses) {
  BindProduct({{"alpha", kernels::Number(0.5)}, {"epilogue", absl::string_view("relu")}});
  const cuda::MatrixProduct product = ProductOf(Request());
  EXPECT_EQ(product.a.rows, 2u);
  EXPECT_EQ(product.a.columns, 3u);
  EXPECT_EQ(product.b.row_stride, 4u);
  EXPECT_EQ(product.d.matrix_stride, 8u);
  EXPECT_EQ(product.a.address, 256u * (kernels::MatmulArguments::kA + 1));
  EXPECT_EQ(product.d.address, 256u * (kernels::MatmulArguments::kD + 1));
  EXPECT_EQ(product.c.address, 0u);
  EXPECT_EQ(product.bias, 0u);
  EXPECT_EQ(product.alpha, 0.5F);
  EXPECT_EQ(product.activation, cuda::MatrixProduct::Activation::kRelu);
  EXPECT_EQ(product.workspace, 4096u);
  EXPECT_EQ(product.workspace_bytes, kernels::kMatmulWorkspaceBytes);
}

TEST_F(DeviceFunctionsTest, ATransformHasTheJobsExtentsAndDirection) {
  BindTransform();
  const cuda::FourierTransform transform = TransformOf(Request());
  EXPECT_EQ(transform.kind, cuda::FourierTransform::Kind::kC2C);
  EXPECT_EQ(transform.direction, cuda::FourierTransform::Direction::kInverse);
  EXPECT_EQ(transform.precision, cuda::FourierTransform::Precision::kF32);
  EXPECT_THAT(transform.extents, ElementsAre(5));
  EXPECT_EQ(transform.batch, 1u);
  EXPECT_EQ(transform.source, 256u);
  EXPECT_EQ(transform.destination, 512u);
}

TEST_F(DeviceFunctionsTest, ASelectionHasTheJobsCountAndAddresses) {
  BindSelection();
  const cuda::PrimRequest request = PrimRequestOf(Request());
  EXPECT_EQ(request.call.algorithm, uint32_t{WEFT_PRIM_SELECT});
  EXPECT_EQ(request.call.key_type, uint32_t{WEFT_PRIM_F32});
  EXPECT_EQ(request.call.count, 6u);
  const auto address = [](const void* pointer) { return reinterpret_cast<uint64_t>(pointer); };
  EXPECT_EQ(address(request.call.keys_in), 256u);
  EXPECT_EQ(address(request.call.values_in), 512u);
  EXPECT_EQ(address(request.call.keys_out), 768u);
  EXPECT_EQ(request.call.values_out, nullptr);
  EXPECT_EQ(address(request.call.count_out), 1024u);
  EXPECT_EQ(request.workspace, 4096u);
}

TEST_F(DeviceFunctionsTest, AHistogramHasTheJobsBins) {
  BindHistogram();
  const cuda::PrimRequest request = PrimRequestOf(Request());
  EXPECT_EQ(request.call.algorithm, uint32_t{WEFT_PRIM_HISTOGRAM});
  EXPECT_EQ(request.call.lower, -1.5);
  EXPECT_EQ(request.call.upper, 2.5);
  EXPECT_EQ(request.call.bins, 8u);
}

}  // namespace
}  // namespace weft::executor
