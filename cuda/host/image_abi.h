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

#define WEFT_HOST_IMAGE_ABI 3u

/* The launch as a kernel sees it. Numbers of blocks and of threads, and bytes of dynamic shared memory. */
typedef struct weft_host_launch {
  uint32_t grid_x, grid_y, grid_z;
  uint32_t block_x, block_y, block_z;
  uint32_t shared_bytes;
} weft_host_launch;

/* How a launch ended. */
enum { WEFT_HOST_OK = 0, WEFT_HOST_LAUNCH_FAILED = 1, WEFT_HOST_OUT_OF_MEMORY = 2 };

typedef struct weft_host_runtime weft_host_runtime;

/* One thread of a block, as the driver runs it: its own from its first instruction to its last. */
typedef struct weft_host_thread {
  uint32_t thread_x, thread_y, thread_z;
  uint32_t block_x, block_y, block_z;
  uint32_t lane; /* in its warp of 32 */
  const weft_host_launch* launch;
  const weft_host_runtime* runtime;
} weft_host_thread;

typedef void (*weft_host_thread_fn)(const weft_host_thread* self, void* argument);

/* What sync_block answers of the predicates of the threads that came. */
enum { WEFT_HOST_COUNT = 0, WEFT_HOST_AND = 1, WEFT_HOST_OR = 2 };

/* What the driver does for a kernel whose threads wait for each other. An image needs none of it for a kernel that
 * carries out its launch by itself.
 *
 * The threads of a launch take turns on the operating system's thread that runs the launch, from the launch's beginning
 * to its end, block after block: a thread runs until it waits. What an image keeps thread_local is therefore shared by
 * the threads of a block and by nobody else at that time. `self` is the caller. A function that waits may return by
 * unwinding the caller's frames (an exception of C++), when the launch has failed. */
struct weft_host_runtime {
  /* Runs body(thread, argument) for every thread of every block; WEFT_HOST_OK or why the launch ended early. Called by
   * a kernel's `run`, and returned by it. */
  int32_t (*run_threads)(const weft_host_launch* launch, weft_host_thread_fn body, void* argument);
  /* Waits for all threads of the block that have not returned. */
  int32_t (*sync_block)(const weft_host_thread* self, uint32_t answer, int32_t predicate);
  /* Both wait until each lane of `mask` that has not returned waits with the same mask. The first returns the bits of
   * the lanes whose predicate is not 0; the second the value of lane `source`, or one's own where that is not there. */
  uint32_t (*vote)(const weft_host_thread* self, uint32_t mask, int32_t predicate);
  uint64_t (*shuffle)(const weft_host_thread* self, uint32_t mask, uint64_t value, uint32_t source);
  /* The lanes of the warp that wait at the same call when nobody else can go on. */
  uint32_t (*active_mask)(const weft_host_thread* self);
  /* The launch's dynamic shared memory, aligned to 128. The address is the same in all launches on one of the operating
   * system's threads. */
  void* (*dynamic_shared)(const weft_host_thread* self);
  /* Ends the launch with WEFT_HOST_LAUNCH_FAILED; does not return. */
  void (*fail)(const weft_host_thread* self);
  /* Sets the value of the conditional handle of a graph, as cudaGraphSetConditional does. A handle that is none is
   * ignored. */
  void (*set_conditional)(uint64_t handle, uint32_t value);
};

/* Carries out the whole launch on the calling thread. params[i] points to the value of parameter i, as kernelParams of
 * cuLaunchKernel does. Returns WEFT_HOST_OK or how the launch failed. Must be reentrant: two launches may run at the
 * same time. Must not throw. */
typedef int32_t (*weft_host_kernel_fn)(const weft_host_launch* launch, void* const* params,
                                       const weft_host_runtime* runtime);

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
