// The kernels of own_textures.textproto. Each thread makes one texel of the output, which is `width` wide.

// A part of `image`, from (x0, y0) on, enlarged by 1 / step.
extern "C" __global__ void zoom(cudaTextureObject_t image, float* out, int width, float x0,
                                float y0, float step) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * width + x] = tex2D<float>(image, x0 + x * step, y0 + y * step);
}

// Three by three times `board`, whose coordinates are 0 … 1: what lies outside of them is the texture's affair.
extern "C" __global__ void tile(cudaTextureObject_t board, float2* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const float u = (x + 0.5f) / width - 1;
  const float v = (y + 0.5f) / height - 1;
  out[y * 3 * width + x] = tex2D<float2>(board, u, v);
}

// Each byte as what a table has for it, `shift` entries on.
extern "C" __global__ void look_up(const unsigned char* image, cudaTextureObject_t table,
                                   float* out, int count, int shift) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = tex1Dfetch<float>(table, image[i] + shift);
}
