/* The module image of the CPU driver: a shared object that exports weft_host_image_table().
 *
 * cuModuleLoadData of libweft_hostcuda.so takes the bytes of such a shared object (an ELF file), as the GPU's driver
 * takes a cubin or a fatbin. This header is the whole contract between the two; it is plain C, and an image links
 * nothing of the driver. All strings and tables live as long as the image is loaded.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_HOST_IMAGE_ABI 1u

/* The launch as a kernel sees it. Numbers of blocks and of threads, and bytes of dynamic shared memory. */
typedef struct weft_host_launch {
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z;
  uint32_t shared_bytes;
} weft_host_launch;

/* Carries out the whole launch on the calling thread. params[i] points to the value of parameter i, as kernelParams of
 * cuLaunchKernel does. Must be reentrant: two launches may run at the same time. Must not throw. */
typedef void (*weft_host_kernel_fn)(const weft_host_launch* launch, void* const* params);

/* Where parameter i lies in the packed parameter buffer (what cuFuncGetParamInfo answers), in bytes. */
typedef struct weft_host_param {
  uint32_t offset;
  uint32_t size;
} weft_host_param;

typedef struct weft_host_kernel {
  const char* name; /* entry point, as cuModuleGetFunction is given it */
  weft_host_kernel_fn run;
  const weft_host_param* params;
  uint32_t param_count;
  uint32_t static_shared_bytes;
  uint32_t max_threads_per_block; /* 0: the device's limit */
} weft_host_kernel;

/* A __device__ or __constant__ symbol. */
typedef struct weft_host_global {
  const char* name;
  void* address;
  size_t size;
} weft_host_global;

typedef struct weft_host_image {
  uint32_t abi; /* WEFT_HOST_IMAGE_ABI */
  uint32_t kernel_count;
  const weft_host_kernel* kernels;
  uint32_t global_count;
  const weft_host_global* globals;
} weft_host_image;

/* The one symbol an image exports. */
typedef const weft_host_image* (*weft_host_image_table_fn)(void);
#define WEFT_HOST_IMAGE_SYMBOL "weft_host_image_table"

#ifdef __cplusplus
} /* extern "C" */
#endif
