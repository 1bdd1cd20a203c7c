/* Texture objects of the CPU driver as kernels read them: the part of the contract between the two (image_abi.h) that
 * only kernels with textures need. Plain C.
 */
#pragma once

#include <stdint.h>

/* What a texel's channels are. */
enum {
  WEFT_HOST_TEXEL_U8 = 0,
  WEFT_HOST_TEXEL_I8 = 1,
  WEFT_HOST_TEXEL_U16 = 2,
  WEFT_HOST_TEXEL_I16 = 3,
  WEFT_HOST_TEXEL_U32 = 4,
  WEFT_HOST_TEXEL_I32 = 5,
  WEFT_HOST_TEXEL_F16 = 6,
  WEFT_HOST_TEXEL_F32 = 7
};
/* What lies outside of a texture. */
enum {
  WEFT_HOST_ADDRESS_CLAMP = 0,
  WEFT_HOST_ADDRESS_WRAP = 1,
  WEFT_HOST_ADDRESS_MIRROR = 2,
  WEFT_HOST_ADDRESS_BORDER = 3
};

/* What the value of a texture object (CUtexObject) is the address of. Kernels read it alone. */
typedef struct weft_host_texture {
  const unsigned char* texels;
  uint64_t width;       /* texels */
  uint64_t height;      /* rows; 0: one dimension */
  uint64_t pitch_bytes; /* from row to row */
  uint32_t format;      /* WEFT_HOST_TEXEL_… */
  uint32_t channels;    /* 1, 2 or 4 */
  uint32_t texel_bytes; /* of all channels */
  uint32_t address_x, address_y;
  uint32_t linear;                 /* 1: filtered, 0: the nearest texel */
  uint32_t normalized_coordinates; /* 1: 0 … 1 are the texture's extents */
  uint32_t normalized_values;      /* 1: integers are read as floats of 0 … 1, or -1 … 1 */
} weft_host_texture;
