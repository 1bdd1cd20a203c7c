#include "server/daemon/compiled_job.h"

#include "weft/executor/v1/executor.pb.h"

namespace weft::daemon {

// Here, where PrepareRequest is complete.
CompiledJob::CompiledJob() = default;
CompiledJob::~CompiledJob() = default;

}  // namespace weft::daemon
