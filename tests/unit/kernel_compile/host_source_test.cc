#include "kernels/compile/host_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace weft::kernels {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Rewrite(const std::string& code) { return HostRewriter().Rewrite(code); }

TEST(HostSourceTest, OtherCodeStaysAsItIs) {
  for (const std::string code : {"int a;",
                                 "",
                                 "}",
                                 "{{",
                                 "\"",
                                 "'",
                                 "/*",
                                 "R\"(",
                                 "#define X \\\n extern __shared__ int x[];",
                                 "const char* s = \"extern __shared__ int x[];\";",
                                 "// __constant__ int x;\n",
                                 "auto r = R\"x(__constant__ int y;)x\";",
                                 "long n = 1'000'000;",
                                 "__device__ float f(float x) { return x; }",
                                 "__device__ float f(float x = 1);",
                                 "extern __constant__ int x;",
                                 "template <typename T> __device__ T t;",
                                 "__constant__ int a, b;",
                                 "__device__ constexpr int k = 1;",
                                 "extern __shared__ int a[], b[];",
                                 "struct S { __device__ static int x; };",
                                 "void f() { __constant__ int x; }"}) {
    EXPECT_EQ(Rewrite(code), code);
  }
}

TEST(HostSourceTest, DynamicSharedMemoryBecomesAReference) {
  EXPECT_EQ(Rewrite("extern __shared__ float tile[];"),
            "static thread_local weft_on_host::UnboundedArray<float>& tile = "
            "weft_on_host::DynamicShared<float>();");
  for (const char* code :
       {"template <typename T = int> __global__ void k() { extern __shared__ __align__(16) T "
        "tile[]; }",
        "void k() { extern volatile __shared__ T tile[]; }",
        "void k() { int x = 1; __shared__ extern T /* here */ tile[]; }",
        "bool operator==(A a, B b) { extern alignas(16) __shared__ T tile[]; }"}) {
    EXPECT_THAT(Rewrite(code), HasSubstr("T>& tile = weft_on_host::DynamicShared<")) << code;
    EXPECT_THAT(Rewrite(code), Not(HasSubstr("extern"))) << code;
  }
}

TEST(HostSourceTest, LinesStayWhereTheyAre) {
  const std::string code =
      "extern __shared__\n  float // its\n  tile[];\n__constant__ int\n x = {\n1};\n";
  const std::string rewritten = Rewrite(code);
  EXPECT_EQ(std::count(code.begin(), code.end(), '\n'),
            std::count(rewritten.begin(), rewritten.end(), '\n'));
  EXPECT_THAT(rewritten, HasSubstr("1}; static weft_on_host::Global"));
}

TEST(HostSourceTest, AlignasBehindSharedBecomesAnAttribute) {
  EXPECT_EQ(Rewrite("void k() { __shared__ alignas(32) float x[4]; alignas(8) int y; }"),
            "void k() { __shared__ __align__(32) float x[4]; alignas(8) int y; }");
}

TEST(HostSourceTest, VariablesAreRegisteredUnderTheirNames) {
  HostRewriter rewriter;
  EXPECT_EQ(rewriter.Rewrite("__constant__ float c[3] = {1, 2, 3};"),
            "__constant__ float c[3] = {1, 2, 3}; static weft_on_host::Global "
            "weft_on_host_global_0(\"c\", &c, sizeof(c));");
  EXPECT_THAT(rewriter.Rewrite("namespace a::b { inline namespace c { __device__ int x; } }"),
              HasSubstr("weft_on_host_global_1(\"a::b::c::x\", &x, sizeof(x));"));
  EXPECT_THAT(rewriter.Rewrite("extern \"C\" { __align__(8) __device__ Pair<int, 2> p; }"),
              HasSubstr("(\"p\", &p, sizeof(p));"));
  EXPECT_THAT(rewriter.Rewrite("void f() { if (x) { } }\nstatic __device__ const float* p;"),
              HasSubstr("(\"p\", &p, sizeof(p));"));
  EXPECT_EQ(rewriter.globals(), 4);
}

}  // namespace
}  // namespace weft::kernels
