/* What prim.gpu.so, Weft's device-wide algorithms by CUB, and the program that loads it agree on. The
 * library exports one function, weft_prim_table. It works on the calling thread's current context,
 * which is a primary one, as the CUDA runtime within it does.
 *
 * A change to what stands here needs another WEFT_PRIM_ABI: the file may be of another build.
 */
#pragma once

#include <stdint.h>

#define WEFT_PRIM_ABI 1

#ifdef __cplusplus
extern "C" {
#endif

enum weft_prim_algorithm {
  WEFT_PRIM_SORT = 0,
  WEFT_PRIM_SORT_BY_KEY = 1,
  WEFT_PRIM_REDUCE = 2,
  WEFT_PRIM_REDUCE_BY_KEY = 3,
  WEFT_PRIM_SCAN = 4,
  WEFT_PRIM_SELECT = 5,
  WEFT_PRIM_UNIQUE = 6,
  WEFT_PRIM_RUN_LENGTH_ENCODE = 7,
  WEFT_PRIM_HISTOGRAM = 8,
};

enum weft_prim_type {
  WEFT_PRIM_I32 = 0,
  WEFT_PRIM_U32 = 1,
  WEFT_PRIM_F32 = 2,
  WEFT_PRIM_I64 = 3,
  WEFT_PRIM_U64 = 4,
  WEFT_PRIM_F64 = 5,
  WEFT_PRIM_U8 = 6, /* samples of histograms alone */
};

enum weft_prim_operation {
  WEFT_PRIM_SUM = 0,
  WEFT_PRIM_MIN = 1,
  WEFT_PRIM_MAX = 2,
};

/* Elements are counted below 2^31. Addresses are those of device memory, each aligned to its elements.
 *
 *                     keys_in   values_in  keys_out   values_out  count_out
 *   SORT              keys                 sorted
 *   SORT_BY_KEY       keys      values     sorted     values
 *   REDUCE            elements             1 element
 *   REDUCE_BY_KEY     keys      values     keys       results     i64
 *   SCAN              elements             results
 *   SELECT            elements  flags, u8  chosen                 i64
 *   UNIQUE            elements             chosen                 i64
 *   RUN_LENGTH_ENCODE elements             elements   i32         i64
 *   HISTOGRAM         samples              u32
 */
typedef struct weft_prim_call {
  uint32_t algorithm;
  uint32_t key_type;
  uint32_t value_type;
  uint32_t operation;
  uint32_t descending; /* sorts: 0 or 1 */
  uint32_t exclusive;  /* scans: 0 or 1 */
  uint64_t count;      /* elements of keys_in */
  uint64_t bins;       /* histograms */
  double lower;        /* of the first bin */
  double upper;        /* of the last bin, outside of it */
  const void* keys_in;
  const void* values_in;
  void* keys_out;
  void* values_out;
  void* count_out;
} weft_prim_call;

/* Results are those of the CUDA runtime; 0 is success. */
typedef struct weft_prim_table_v1 {
  uint32_t abi;       /* WEFT_PRIM_ABI */
  uint32_t call_size; /* sizeof(weft_prim_call) */
  /* Bytes of workspace that the call needs; its addresses are not looked at. Sets the runtime up in
   * the current context, so that nothing of that is left for a capture. */
  int32_t (*workspace)(const weft_prim_call* call, uint64_t* bytes);
  /* Puts the call into a stream (a CUstream), which may be captured: it neither allocates nor waits.
   * The workspace is aligned to 256 bytes. */
  int32_t (*enqueue)(const weft_prim_call* call, void* workspace, uint64_t workspace_bytes,
                     void* stream);
  const char* (*name_of)(int32_t result); /* static text */
} weft_prim_table_v1;

const weft_prim_table_v1* weft_prim_table(void);

#ifdef __cplusplus
}
#endif
