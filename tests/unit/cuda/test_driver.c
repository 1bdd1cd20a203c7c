/* A library that passes for a CUDA driver as far as loading goes. WEFT_TEST_DRIVER_OLD leaves
 * cuGetProcAddress_v2 out, as drivers before CUDA 12.0 do; WEFT_TEST_DRIVER_PARTIAL lacks two
 * required functions. All lack the optional one. */
#include <stddef.h>
#include <string.h>

int cuInit(unsigned flags) { return flags == 0 ? 100 /* CUDA_ERROR_NO_DEVICE */ : 1; }

#ifndef WEFT_TEST_DRIVER_OLD

static int last_alloc_version = 0;

/* The version asked for cuMemAlloc, so that a test sees that versions are pinned. */
static int version_of_mem_alloc(int* version) {
  *version = last_alloc_version;
  return 0;
}

static int lacks(const char* name) {
#ifdef WEFT_TEST_DRIVER_PARTIAL
  if (strcmp(name, "cuMemCreate") == 0 || strcmp(name, "cuGraphLaunch") == 0) return 1;
#endif
  return strcmp(name, "cuFuncGetParamInfo") == 0;
}

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags,
                        int* found) {
  (void)flags;
  if (strcmp(name, "cuMemAlloc") == 0) last_alloc_version = version;
  *found = lacks(name) ? 1 : 0;
  *function = lacks(name)                   ? NULL
              : strcmp(name, "cuInit") == 0 ? (void*)cuInit
                                            : (void*)version_of_mem_alloc;
  return 0;
}

#endif
