#include "server/executor/library_arguments.h"

#include <utility>

#include "kernels/library/dnn_schemas.h"
#include "kernels/library/library_schemas.h"
#include "kernels/library/prim_schemas.h"
#include "kernels/library/rand_schemas.h"

namespace weft::executor {
namespace {

using kernels::FftArguments;
using kernels::MatmulArguments;
using kernels::MatmulOperand;

cuda::MatrixProduct::Type TypeOf(kernels::DType dtype) {
  switch (dtype) {
    case kernels::DType::kF16:
      return cuda::MatrixProduct::Type::kF16;
    case kernels::DType::kBF16:
      return cuda::MatrixProduct::Type::kBF16;
    default:
      return cuda::MatrixProduct::Type::kF32;
  }
}

cuda::MatrixProduct::Activation ActivationOf(MatmulArguments::Epilogue epilogue) {
  switch (epilogue) {
    case MatmulArguments::Epilogue::kNone:
    case MatmulArguments::Epilogue::kBias:
      return cuda::MatrixProduct::Activation::kNone;
    case MatmulArguments::Epilogue::kRelu:
    case MatmulArguments::Epilogue::kReluBias:
      return cuda::MatrixProduct::Activation::kRelu;
    case MatmulArguments::Epilogue::kGelu:
    case MatmulArguments::Epilogue::kGeluBias:
      return cuda::MatrixProduct::Activation::kGelu;
  }
  return cuda::MatrixProduct::Activation::kNone;
}

cuda::BatchedMatrix MatrixOf(const build::LibraryRequest& request, MatmulOperand operand,
                             uint32_t argument) {
  cuda::BatchedMatrix matrix;
  matrix.address = request.addresses[argument];
  // The schema has checked that it fits.
  const kernels::MatrixLayout layout =
      kernels::MatmulLayout(request.call, operand).value_or(kernels::MatrixLayout{});
  matrix.rows = layout.rows;
  matrix.columns = layout.columns;
  matrix.row_stride = layout.row_stride;
  matrix.matrix_stride = layout.matrix_stride;
  return matrix;
}

float F32(const kernels::BoundCall& call, uint32_t argument) {
  return static_cast<float>(call.arguments[argument].scalar.AsDouble());
}

cuda::MatrixProduct::Transpose TransposeOf(const kernels::BoundCall& call, uint32_t argument) {
  return call.Choice(argument) != 0 ? cuda::MatrixProduct::Transpose::kYes
                                    : cuda::MatrixProduct::Transpose::kNo;
}

uint32_t PrimTypeOf(kernels::DType dtype) {
  switch (dtype) {
    case kernels::DType::kI32:
      return WEFT_PRIM_I32;
    case kernels::DType::kU32:
      return WEFT_PRIM_U32;
    case kernels::DType::kI64:
      return WEFT_PRIM_I64;
    case kernels::DType::kU64:
      return WEFT_PRIM_U64;
    case kernels::DType::kF64:
      return WEFT_PRIM_F64;
    case kernels::DType::kU8:
      return WEFT_PRIM_U8;
    default:
      return WEFT_PRIM_F32;
  }
}

// The schema's enumerations are the library's.
using PrimOperation = kernels::PrimChoices::Operation;
static_assert(static_cast<uint32_t>(PrimOperation::kSum) == WEFT_PRIM_SUM &&
              static_cast<uint32_t>(PrimOperation::kMin) == WEFT_PRIM_MIN &&
              static_cast<uint32_t>(PrimOperation::kMax) == WEFT_PRIM_MAX);

uint32_t AlgorithmOf(kernels::PrimAlgorithm algorithm) {
  switch (algorithm) {
    case kernels::PrimAlgorithm::kSort:
      return WEFT_PRIM_SORT;
    case kernels::PrimAlgorithm::kSortByKey:
      return WEFT_PRIM_SORT_BY_KEY;
    case kernels::PrimAlgorithm::kReduce:
      return WEFT_PRIM_REDUCE;
    case kernels::PrimAlgorithm::kReduceByKey:
      return WEFT_PRIM_REDUCE_BY_KEY;
    case kernels::PrimAlgorithm::kScan:
      return WEFT_PRIM_SCAN;
    case kernels::PrimAlgorithm::kSelect:
      return WEFT_PRIM_SELECT;
    case kernels::PrimAlgorithm::kUnique:
      return WEFT_PRIM_UNIQUE;
    case kernels::PrimAlgorithm::kRunLengthEncode:
      return WEFT_PRIM_RUN_LENGTH_ENCODE;
    case kernels::PrimAlgorithm::kHistogram:
      return WEFT_PRIM_HISTOGRAM;
  }
  return WEFT_PRIM_SORT;
}

}  // namespace

cuda::MatrixProduct ProductOf(const build::LibraryRequest& request) {
  using M = MatmulArguments;
  const kernels::BoundCall& call = request.call;
  cuda::MatrixProduct product;
  product.type = TypeOf(call.arguments[M::kA].dtype);
  product.compute = static_cast<M::Compute>(call.Choice(M::kCompute)) == M::Compute::kTF32
                        ? cuda::MatrixProduct::Compute::kTF32
                        : cuda::MatrixProduct::Compute::kF32;
  product.activation = ActivationOf(static_cast<M::Epilogue>(call.Choice(M::kEpilogue)));
  product.trans_a = TransposeOf(call, M::kTransA);
  product.trans_b = TransposeOf(call, M::kTransB);
  product.a = MatrixOf(request, MatmulOperand::kA, M::kA);
  product.b = MatrixOf(request, MatmulOperand::kB, M::kB);
  product.beta = F32(call, M::kBeta);
  // Without beta, c is not read: where it lies and how does not matter.
  if (product.beta != 0) product.c = MatrixOf(request, MatmulOperand::kC, M::kC);
  product.d = MatrixOf(request, MatmulOperand::kD, M::kD);
  product.bias = request.addresses[M::kBias];
  product.batch = static_cast<uint32_t>(call.I64(M::kBatch));
  product.alpha = F32(call, M::kAlpha);
  product.workspace = request.workspace;
  product.workspace_bytes = request.workspace_bytes;
  return product;
}

cuda::FourierTransform TransformOf(const build::LibraryRequest& request) {
  const kernels::BoundCall& call = request.call;
  const kernels::FftShape shape = kernels::FftShapeOf(request.schema);
  cuda::FourierTransform transform;
  switch (shape.kind) {
    case kernels::FftKind::kC2C:
      transform.kind = cuda::FourierTransform::Kind::kC2C;
      if (static_cast<FftArguments::Direction>(call.Choice(FftArguments::kFirstOfRest)) ==
          FftArguments::Direction::kInverse) {
        transform.direction = cuda::FourierTransform::Direction::kInverse;
      }
      break;
    case kernels::FftKind::kR2C:
      transform.kind = cuda::FourierTransform::Kind::kR2C;
      break;
    case kernels::FftKind::kC2R:
      transform.kind = cuda::FourierTransform::Kind::kC2R;
      break;
  }
  if (call.arguments[FftArguments::kSrc].dtype == kernels::DType::kF64) {
    transform.precision = cuda::FourierTransform::Precision::kF64;
  }
  for (uint32_t i = 0; i < shape.rank; ++i) {
    transform.extents.push_back(static_cast<uint64_t>(call.I64(shape.FirstExtent() + i)));
  }
  transform.batch = static_cast<uint64_t>(call.I64(shape.Batch()));
  transform.source = request.addresses[FftArguments::kSrc];
  transform.destination = request.addresses[FftArguments::kDst];
  transform.workspace = request.workspace;
  transform.workspace_bytes = request.workspace_bytes;
  return transform;
}

cuda::PrimRequest PrimRequestOf(const build::LibraryRequest& request) {
  const kernels::BoundCall& call = request.call;
  const kernels::PrimLayout layout = kernels::PrimLayoutOf(request.schema);
  const auto address = [&](std::optional<uint32_t> argument) {
    return reinterpret_cast<void*>(argument.has_value() ? request.addresses[*argument] : 0);
  };
  const auto choice = [&](std::optional<uint32_t> argument) {
    return argument.has_value() ? call.Choice(*argument) : 0;
  };
  cuda::PrimRequest prepared;
  weft_prim_call& prim = prepared.call;
  prim.algorithm = AlgorithmOf(layout.algorithm);
  prim.key_type = PrimTypeOf(call.arguments[layout.keys_in].dtype);
  if (layout.values_in.has_value()) {
    prim.value_type = PrimTypeOf(call.arguments[*layout.values_in].dtype);
  }
  prim.operation = choice(layout.operation);
  prim.descending = choice(layout.order);
  prim.exclusive = choice(layout.mode);
  prim.count = static_cast<uint64_t>(call.I64(layout.n));
  if (layout.lower.has_value()) {
    prim.lower = call.arguments[*layout.lower].scalar.AsDouble();
    prim.upper = call.arguments[*layout.lower + 1].scalar.AsDouble();
    prim.bins = static_cast<uint64_t>(call.I64(*layout.lower + 2));
  }
  prim.keys_in = address(layout.keys_in);
  prim.values_in = address(layout.values_in);
  prim.keys_out = address(layout.keys_out);
  prim.values_out = address(layout.values_out);
  prim.count_out = address(layout.count_out);
  prepared.workspace = request.workspace;
  prepared.workspace_bytes = request.workspace_bytes;
  return prepared;
}

cuda::Convolution ConvolutionOf(const build::LibraryRequest& request) {
  using A = kernels::Conv2dArguments;
  const kernels::BoundCall& call = request.call;
  // The schema keeps all of them below 2^31.
  const auto extent = [&call](uint32_t argument) {
    return static_cast<int32_t>(call.I64(argument));
  };
  cuda::Convolution convolution;
  if (call.arguments[A::kX].dtype == kernels::DType::kF16) {
    convolution.type = cuda::Convolution::Type::kF16;
  }
  if (static_cast<A::Activation>(call.Choice(A::kActivation)) == A::Activation::kRelu) {
    convolution.activation = cuda::Convolution::Activation::kRelu;
  }
  const std::pair<int32_t cuda::Convolution::*, uint32_t> extents[] = {
      {&cuda::Convolution::images, A::kImages},
      {&cuda::Convolution::channels, A::kChannels},
      {&cuda::Convolution::height, A::kHeight},
      {&cuda::Convolution::width, A::kWidth},
      {&cuda::Convolution::filters, A::kFilterCount},
      {&cuda::Convolution::filter_height, A::kFilterHeight},
      {&cuda::Convolution::filter_width, A::kFilterWidth},
      {&cuda::Convolution::out_height, A::kOutHeight},
      {&cuda::Convolution::out_width, A::kOutWidth},
      {&cuda::Convolution::pad_h, A::kPadH},
      {&cuda::Convolution::pad_w, A::kPadW},
      {&cuda::Convolution::stride_h, A::kStrideH},
      {&cuda::Convolution::stride_w, A::kStrideW},
      {&cuda::Convolution::dilation_h, A::kDilationH},
      {&cuda::Convolution::dilation_w, A::kDilationW}};
  for (const auto& [member, argument] : extents) convolution.*member = extent(argument);
  convolution.source = request.addresses[A::kX];
  convolution.filter = request.addresses[A::kFilters];
  convolution.bias = request.addresses[A::kBias];
  convolution.destination = request.addresses[A::kY];
  convolution.workspace = request.workspace;
  convolution.workspace_bytes = request.workspace_bytes;
  return convolution;
}

cuda::RandomNumbers NumbersOf(const build::LibraryRequest& request) {
  using A = kernels::RandArguments;
  const kernels::BoundCall& call = request.call;
  cuda::RandomNumbers numbers;
  if (request.schema.name == "rand.normal") numbers.kind = cuda::RandomNumbers::Kind::kNormal;
  if (request.schema.name == "rand.log_normal") {
    numbers.kind = cuda::RandomNumbers::Kind::kLogNormal;
  }
  if (call.arguments[A::kDst].dtype == kernels::DType::kF64) {
    numbers.precision = cuda::RandomNumbers::Precision::kF64;
  }
  numbers.seed = call.arguments[A::kSeed].scalar.bits;
  numbers.offset = static_cast<uint64_t>(call.I64(A::kOffset));
  numbers.count = static_cast<uint64_t>(call.I64(A::kN));
  if (numbers.kind != cuda::RandomNumbers::Kind::kUniform) {
    numbers.mean = call.arguments[A::kMean].scalar.AsDouble();
    numbers.deviation = call.arguments[A::kDeviation].scalar.AsDouble();
  }
  numbers.destination = request.addresses[A::kDst];
  return numbers;
}

}  // namespace weft::executor
