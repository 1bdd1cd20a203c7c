// The types for which arithmetic kernels are instantiated, as lists for macros: X(suffix of the symbol, type).
#pragma once

#define WEFT_FLOAT_TYPES(X) X(f32, float) X(f64, double) X(f16, F16) X(bf16, BF16)
#define WEFT_ARITHMETIC_TYPES(X) WEFT_FLOAT_TYPES(X) X(i32, int32_t) X(u8, uint8_t)
#define WEFT_WIDTHS(X) X(b8, uint8_t) X(b16, uint16_t) X(b32, uint32_t) X(b64, uint64_t)
