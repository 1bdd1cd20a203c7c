// The schemas of the built-in kernels, one function a kernel (a family where only the operation differs), each in
// <kernel>.schema.cc.
#pragma once

#include "kernels/schema.h"

namespace weft::kernels {

KernelSchema FillSchema();
KernelSchema IotaSchema();
KernelSchema RandomUniformSchema();
KernelSchema RandomNormalSchema();
KernelSchema CopySchema();
KernelSchema CastSchema();
KernelSchema GatherSchema();
KernelSchema ScatterSchema();
KernelSchema CompactSchema();
KernelSchema AxpySchema();
KernelSchema ScaleSchema();
KernelSchema AddSchema();
KernelSchema MulSchema();
KernelSchema ClampSchema();
KernelSchema ReduceSumSchema();
KernelSchema ReduceMinSchema();
KernelSchema ReduceMaxSchema();
KernelSchema DotSchema();
KernelSchema ArgmaxSchema();
KernelSchema ArgminSchema();
KernelSchema InclusiveScanSchema();
KernelSchema ExclusiveScanSchema();
KernelSchema HistogramSchema();
KernelSchema TransposeSchema();
KernelSchema MatmulSchema();
KernelSchema AddRowsSchema();
KernelSchema SoftmaxSchema();
KernelSchema LayernormSchema();
KernelSchema GaussianBlurSchema();
KernelSchema BoxBlurSchema();
KernelSchema SobelSchema();
KernelSchema RgbToGraySchema();
KernelSchema Stencil5Schema();
KernelSchema SpinSchema();

}  // namespace weft::kernels
