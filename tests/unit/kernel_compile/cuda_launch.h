// A kernel's source compiled for the CPU driver and launched there through the driver's functions. The kernels get
// pointers of the test's own memory: the driver runs in this process.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/host/cuda_api.h"
#include "cuda/host/runtime.h"
#include "kernels/compile/host_compiler.h"
#include "tests/testing/status_matchers.h"

namespace weft::kernels {

struct Shape {
  unsigned grid_x = 1, grid_y = 1, block_x = 1, block_y = 1, shared_bytes = 0;
};

class CudaLaunchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(compiler_, HostCompiler::Create(HostCompiler::DefaultSettings()));
    ASSERT_OK(hostcuda::Runtime::Configure("workers=2"));
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxPushCurrent(context_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (context_ != nullptr) {
      cuCtxPopCurrent(nullptr);
      cuDevicePrimaryCtxRelease(0);
    }
    hostcuda::Runtime::Reset();
  }

  static CudaSource Source(const std::string& code, std::vector<std::string> entries) {
    CudaSource source;
    source.name = "test";
    source.code = code;
    source.entries = std::move(entries);
    return source;
  }
  // The module loaded, and its first kernel.
  void Load(const CudaSource& source) {
    ASSERT_OK_AND_ASSIGN(const CompiledModule compiled, compiler_->Compile(source));
    ASSERT_EQ(cuModuleLoadData(&module_, compiled.image.data()), CUDA_SUCCESS);
    kernel_ = Kernel(compiled.symbols[0]);
  }
  CUfunction Kernel(const std::string& symbol) {
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module_, symbol.c_str()), CUDA_SUCCESS) << symbol;
    return function;
  }
  // Runs it to its end.
  template <typename... A>
  CUresult Launch(const Shape& shape, A... arguments) {
    void* params[] = {static_cast<void*>(&arguments)..., nullptr};
    const CUresult launched =
        cuLaunchKernel(kernel_, shape.grid_x, shape.grid_y, 1, shape.block_x, shape.block_y, 1,
                       shape.shared_bytes, stream_, params, nullptr);
    return launched != CUDA_SUCCESS ? launched : cuStreamSynchronize(stream_);
  }

  std::unique_ptr<HostCompiler> compiler_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction kernel_ = nullptr;
};

}  // namespace weft::kernels
