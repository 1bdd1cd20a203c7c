// The parts of the host image's table, one a source file.
#pragma once

#include "kernels/builtin/host_entry.h"

namespace weft::kernels {

HostEntries ElementwiseEntries();
HostEntries ReduceEntries();
HostEntries ScanEntries();
HostEntries MatrixEntries();
HostEntries ImageEntries();
HostEntries HistogramEntries();
HostEntries GatherEntries();
HostEntries CompactEntries();
HostEntries CopyBytesEntries();
HostEntries DotEntries();
HostEntries LayernormEntries();
HostEntries RandomEntries();
HostEntries ArgEntries();
HostEntries SpinEntries();
HostEntries FlowEntries();

}  // namespace weft::kernels
