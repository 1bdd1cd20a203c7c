#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/bind.h"
#include "kernels/library/rand_schemas.h"
#include "kernels/library/schema_parts.h"

namespace weft::kernels {
namespace {

constexpr char kRandSequence[] =
    " Philox4x32-10 with the key seed, in the order that cuRAND calls legacy and keeps in all "
    "releases: 65536 subsequences take turns at making four numbers, of a word each (f64: of two). "
    "offset skips so many of them; with f64, an offset of 262144 or more skips half as many. The "
    "same "
    "numbers at every run. On a GPU outside of CUDA graphs, and the call may block the thread that "
    "makes it; the generator there is some MiB of device memory outside of the plan.";

std::vector<FieldViolation> CheckPairs(const KernelSchema&, const BoundCall& call) {
  const int64_t n = call.I64(RandArguments::kN);
  if (n % 2 == 0) return {};
  return {{"n", absl::StrCat(n,
                             " is odd, and these numbers are made in pairs; give one more or "
                             "one less")}};
}

KernelSchema RandSchema(std::string name, std::string stem, std::string summary,
                        const std::string& doc) {
  using A = RandArguments;
  KernelSchema schema;
  schema.name = std::move(name);
  schema.summary = std::move(summary);
  schema.doc = absl::StrCat(doc, kRandSequence);
  ArgumentSchema dst = Buffer("dst", "what is filled", Access::kWrite,
                              OneOf({DType::kF32, DType::kF64}), kernels::Of({A::kN}));
  std::get<BufferSchema>(dst.kind).alignment = 4;  // the library writes four at a time
  schema.arguments = {
      std::move(dst),
      Scalar("seed", "names the sequence", OneOf({DType::kU64}), Default(int64_t{0})),
      RandomOffset(),
      BoundedInteger("n", "numbers", Count(A::kDst), 0, int64_t{1} << 40),
  };
  schema.key = {SymbolKey::Kind::kDType, {A::kDst}};
  schema.phases = {TwinPhase(std::move(stem), kernels::Of({A::kN}))};
  schema.library = LibraryTraits{"cuRAND", LibraryTraits::Recording::kStreams};
  return schema;
}

KernelSchema RandUniformSchema() {
  return RandSchema("rand.uniform", "rand_uniform", "uniform random numbers, by cuRAND.",
                    "Above 0, up to 1: (w + 1/2) / 2^32 of a word w, rounded to f32; of 53 bits of "
                    "two words in f64. The same bits on every device.");
}

KernelSchema RandNormalCallSchema(const char* name, const char* stem, const char* summary,
                                  const char* doc) {
  KernelSchema schema = RandSchema(name, stem, summary, doc);
  schema.arguments.push_back(
      Scalar("mean", "of the normal distribution", SameAs(RandArguments::kDst), Default(0.0)));
  schema.arguments.push_back(
      Scalar("stddev", "its standard deviation", SameAs(RandArguments::kDst), Default(1.0)));
  schema.check = &CheckPairs;
  return schema;
}

}  // namespace

std::vector<KernelSchema> RandSchemas() {
  return {
      RandUniformSchema(),
      RandNormalCallSchema(
          "rand.normal", "rand_normal", "normal random numbers, by cuRAND.",
          "Box-Muller, sine and cosine, of the pairs of numbers that rand.uniform makes. Devices "
          "differ by at most 1e-4 (f32) or 1e-12 (f64) times stddev."),
      RandNormalCallSchema("rand.log_normal", "rand_log_normal",
                           "random numbers whose logarithms are normal, by cuRAND.",
                           "The exponentials of what rand.normal makes with the same arguments; "
                           "devices differ by at "
                           "most 1e-4 (f32) or 1e-12 (f64) times stddev, relative."),
  };
}

}  // namespace weft::kernels
