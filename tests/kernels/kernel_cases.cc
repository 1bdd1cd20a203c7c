#include "tests/kernels/kernel_cases.h"

#include <cstdlib>

namespace weft::kernels::testing {
namespace {

// Around the widths of warps, blocks and tiles, and one prime that divides into none of them.
constexpr Extents kVectors[] = {{0},   {1},   {2},   {31},   {32},   {33},
                                {255}, {256}, {257}, {1023}, {1025}, {1000003}};
constexpr Extents kSmallVectors[] = {{0}, {1}, {31}, {33}, {257}, {1025}, {4099}};

constexpr Extents kMatrices[] = {{0, 5},     {5, 0},     {1, 1},       {1, 2},      {2, 1},
                                 {1, 31},    {31, 1},    {2, 31},      {31, 33},    {32, 32},
                                 {33, 257},  {255, 256}, {257, 255},   {1, 1025},   {1025, 1},
                                 {1023, 33}, {33, 1023}, {1, 1000003}, {1000003, 1}};
constexpr Extents kSmallMatrices[] = {{0, 5},  {1, 1},   {2, 31},  {31, 33},
                                      {65, 9}, {1, 257}, {257, 1}, {33, 257}};

constexpr Extents kProducts[] = {{0, 3, 2},      {3, 0, 2},      {3, 2, 0},       {1, 1, 1},
                                 {2, 31, 33},    {31, 33, 32},   {64, 64, 64},    {65, 63, 17},
                                 {33, 257, 255}, {255, 256, 31}, {1, 1000003, 2}, {1000003, 1, 2},
                                 {1, 1, 1000003}};
constexpr Extents kSmallProducts[] = {{0, 3, 2},   {3, 2, 0},    {1, 1, 1},
                                      {2, 31, 33}, {65, 63, 17}, {33, 129, 65}};

template <size_t kCount>
std::vector<Extents> ToVector(const Extents (&extents)[kCount]) {
  return {extents, extents + kCount};
}

}  // namespace

const KernelCase* FindCase(absl::string_view kernel) {
  for (const absl::Span<const KernelCase> cases :
       {ElementwiseCases(), ReductionCases(), MatrixCases(), ImageCases(), GatherCases(),
        RandomCases()}) {
    for (const KernelCase& kernel_case : cases) {
      if (kernel_case.kernel == kernel) return &kernel_case;
    }
  }
  return nullptr;
}

std::vector<Extents> ExtentsOf(Sizes sizes) {
  const bool few = std::getenv("WEFT_TEST_SMALL") != nullptr;
  switch (sizes) {
    case Sizes::kVector:
      return few ? ToVector(kSmallVectors) : ToVector(kVectors);
    case Sizes::kMatrix:
      return few ? ToVector(kSmallMatrices) : ToVector(kMatrices);
    case Sizes::kMatmul:
      return few ? ToVector(kSmallProducts) : ToVector(kProducts);
  }
  return {};
}

}  // namespace weft::kernels::testing
