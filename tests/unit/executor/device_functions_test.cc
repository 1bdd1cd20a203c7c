#include "server/executor/device_functions.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/library/dnn_schemas.h"
#include "kernels/library/library_schemas.h"
#include "kernels/library/sparse_schemas.h"
#include "kernels/registry.h"
#include "server/executor/library_arguments.h"
#include "server/executor/solver_arguments.h"
#include "server/executor/sparse_arguments.h"
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
  // 3 rows of 2 columns with 5 nonzeros, times a vector.
  void BindSparse() {
    schema_ = kernels::Registry::Library().Find("sparse.spmv");
    Bind({{"row_offsets", kernels::GivenBuffer{kernels::DType::kI32, four_, 16, 0, {}}},
          {"columns", kernels::GivenBuffer{kernels::DType::kI32, five_, 20, 0, {}}},
          {"values", kernels::GivenBuffer{kernels::DType::kF32, five_, 20, 0, {}}},
          {"x", kernels::GivenBuffer{kernels::DType::kF32, two_, 8, 0, {}}},
          {"y", kernels::GivenBuffer{kernels::DType::kF32, three_, 12, 0, {}}},
          {"info", Info()}});
  }
  // 5 rows of 2 under one filter of 3 × 1.
  void BindConvolution() {
    schema_ = kernels::Registry::Library().Find("dnn.conv2d_forward");
    Bind({{"x", Tensor(image_)},
          {"filters", Tensor(filter_)},
          {"bias", kernels::GivenBuffer{kernels::DType::kF32, one_, 4, 0, {}}},
          {"y", Tensor(places_)},
          {"stride_w", kernels::Number(int64_t{2})},
          {"activation", absl::string_view("relu")}});
  }
  void BindNormal() {
    schema_ = kernels::Registry::Library().Find("rand.normal");
    Bind({{"dst", Floats(pairs_)},
          {"seed", kernels::Number(uint64_t{1} << 63)},
          {"offset", kernels::Number(int64_t{9})},
          {"stddev", kernels::Number(0.5)}});
  }
  // Factors 3 × 3; a tall 5 × 2 into its singular vectors.
  void BindCholesky() {
    schema_ = kernels::Registry::Library().Find("solver.cholesky");
    Bind({{"a", Floats(square_)}, {"factor", Floats(square_)}, {"info", Info()}});
  }
  void BindSvd() {
    schema_ = kernels::Registry::Library().Find("solver.svd");
    Bind({{"a", Floats(tall_)},
          {"s", kernels::GivenBuffer{kernels::DType::kF32, two_, 8, 0, {}}},
          {"u", Floats(tall_)},
          {"vt", Floats(two_by_two_)},
          {"info", Info()}});
  }
  build::LibraryRequest Request() const {
    return build::LibraryRequest{*schema_, call_, addresses_, 4096, call_.workspace_bytes};
  }

  std::vector<uint64_t> a_ = {2, 3}, b_ = {3, 4}, d_ = {2, 4};
  const std::vector<uint64_t> pairs_ = {5, 2}, square_ = {3, 3}, tall_ = {5, 2}, two_ = {2},
                              two_by_two_ = {2, 2}, one_ = {1}, three_ = {3}, four_ = {4},
                              five_ = {5}, image_ = {1, 1, 5, 2}, filter_ = {1, 1, 3, 1},
                              places_ = {1, 1, 3, 1};

 private:
  kernels::GivenBuffer Info() const { return {kernels::DType::kI32, one_, 4, 0, {}}; }
  static kernels::GivenBuffer Floats(const std::vector<uint64_t>& shape) {
    return {kernels::DType::kF32, shape, shape[0] * shape[1] * 4, 0, {}};
  }
  static kernels::GivenBuffer Tensor(const std::vector<uint64_t>& shape) {
    return {kernels::DType::kF32, shape, shape[0] * shape[1] * shape[2] * shape[3] * 4, 0, {}};
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
  const MissingLibrary no_dnn("WEFT_CUDNN");
  const MissingLibrary no_random("WEFT_CURAND");
  const MissingLibrary no_solver("WEFT_CUSOLVER");
  const MissingLibrary no_sparse("WEFT_CUSPARSE");
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
  BindCholesky();
  EXPECT_THAT(functions.ResolveLibrary(Request()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("cuSOLVER"), HasSubstr("WEFT_CUSOLVER"))));
  BindNormal();
  EXPECT_THAT(functions.ResolveLibrary(Request()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("cuRAND"), HasSubstr("WEFT_CURAND"))));
  BindConvolution();
  EXPECT_THAT(functions.ResolveLibrary(Request()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("cuDNN"), HasSubstr("WEFT_CUDNN"))));
  BindSparse();
  EXPECT_THAT(functions.ResolveLibrary(Request()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("cuSPARSE"), HasSubstr("WEFT_CUSPARSE"))));
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

TEST_F(DeviceFunctionsTest, AConvolutionHasTheJobsExtentsAndSteps) {
  BindConvolution();
  const cuda::Convolution convolution = ConvolutionOf(Request());
  EXPECT_EQ(convolution.type, cuda::Convolution::Type::kF32);
  EXPECT_EQ(convolution.activation, cuda::Convolution::Activation::kRelu);
  EXPECT_EQ(convolution.height, 5);
  EXPECT_EQ(convolution.width, 2);
  EXPECT_EQ(convolution.filter_height, 3);
  EXPECT_EQ(convolution.out_height, 3);
  EXPECT_EQ(convolution.out_width, 1);
  EXPECT_EQ(convolution.stride_h, 1);
  EXPECT_EQ(convolution.stride_w, 2);
  EXPECT_EQ(convolution.destination, 256u * (kernels::Conv2dArguments::kY + 1));
}

TEST_F(DeviceFunctionsTest, ASparseProductReadsCopiesOfItsIndices) {
  BindSparse();
  const build::LibraryRequest request = Request();
  const cuda::SparseProduct product = SparseProductOf(request);
  EXPECT_EQ(product.rows, 3);
  EXPECT_EQ(product.columns, 2);
  EXPECT_EQ(product.nonzeros, 5);
  EXPECT_EQ(product.values, 256u * (kernels::SparseArguments::kValues + 1));
  EXPECT_EQ(product.result, 256u * (kernels::SparseArguments::kResult + 1));
  const ByteRange workspace{request.workspace, request.workspace_bytes};
  EXPECT_TRUE(workspace.contains({product.row_offsets, 16}));
  EXPECT_TRUE(workspace.contains({product.column_indices, 20}));
  EXPECT_TRUE(workspace.contains({product.workspace, product.workspace_bytes}));
  EXPECT_LE(product.row_offsets + 16, product.column_indices);
  EXPECT_LE(product.column_indices + 20, product.workspace);
}

TEST_F(DeviceFunctionsTest, RandomNumbersHaveTheJobsSeedAndDistribution) {
  BindNormal();
  const cuda::RandomNumbers numbers = NumbersOf(Request());
  EXPECT_EQ(numbers.kind, cuda::RandomNumbers::Kind::kNormal);
  EXPECT_EQ(numbers.precision, cuda::RandomNumbers::Precision::kF32);
  EXPECT_EQ(numbers.seed, uint64_t{1} << 63);
  EXPECT_EQ(numbers.offset, 9u);
  EXPECT_EQ(numbers.count, 10u);
  EXPECT_EQ(numbers.mean, 0);
  EXPECT_EQ(numbers.deviation, 0.5);
  EXPECT_EQ(numbers.destination, 256u);
}

TEST_F(DeviceFunctionsTest, ARowMajorTriangleIsTheOtherOneOfTheSolver) {
  BindCholesky();
  const cuda::DenseProblem problem = ProblemOf(Request());
  EXPECT_EQ(problem.kind, cuda::DenseProblem::Kind::kCholesky);
  EXPECT_EQ(problem.triangle, cuda::DenseProblem::Triangle::kUpper);
  EXPECT_EQ(problem.rows, 3);
  EXPECT_EQ(problem.source, 256u);
  EXPECT_EQ(problem.matrix, 512u);
  EXPECT_EQ(problem.info, 768u);
}

TEST_F(DeviceFunctionsTest, ATallMatrixIsDecomposedInTheWorkspace) {
  BindSvd();
  const build::LibraryRequest request = Request();
  const cuda::DenseProblem problem = ProblemOf(request);
  EXPECT_EQ(problem.rows, 5);
  EXPECT_EQ(problem.columns, 2);
  const ByteRange workspace{request.workspace, request.workspace_bytes};
  for (const ByteRange part :
       {ByteRange{problem.matrix, 40}, ByteRange{problem.left, 40}, ByteRange{problem.right, 16},
        ByteRange{problem.workspace, problem.workspace_bytes}}) {
    EXPECT_TRUE(workspace.contains(part));
  }
  EXPECT_LE(problem.matrix + 40, problem.left);
  EXPECT_LE(problem.left + 40, problem.right);
  EXPECT_LE(problem.right + 16, problem.workspace);
}

}  // namespace
}  // namespace weft::executor
