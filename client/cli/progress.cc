#include "client/cli/progress.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/output.h"

namespace weft::cli {
namespace {

constexpr absl::Duration kRedrawEvery = absl::Milliseconds(100);
constexpr size_t kMaxNameBytes = 32;  // keeps the line on one row, which is all that a wipe wipes
constexpr char kWipe[] = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(std::ostream& terminal, const Clock& clock)
    : terminal_(terminal), clock_(clock), state_since_(clock.Now()), thread_([this] { Loop(); }) {}

ProgressLine::~ProgressLine() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.Signal();
  }
  thread_.join();
  terminal_ << kWipe << std::flush;
}

void ProgressLine::Update(const v1::JobInfo& info) {
  const absl::MutexLock lock(&mutex_);
  if (info_.state() != info.state()) state_since_ = clock_.Now();
  info_ = info;
  changed_.Signal();
}

void ProgressLine::Loop() {
  const absl::MutexLock lock(&mutex_);
  while (!stopping_) {
    if (info_.state() != v1::JOB_STATE_UNSPECIFIED) Draw();
    changed_.WaitWithTimeout(&mutex_, kRedrawEvery);
  }
}

void ProgressLine::Draw() {
  terminal_ << kWipe << Text(info_, clock_.Now() - state_since_) << std::flush;
}

std::string ProgressLine::Text(const v1::JobInfo& info, absl::Duration since) {
  std::string text = "job " + Printable(info.id());
  if (!info.name().empty()) {
    absl::StrAppend(&text, " (", Printable(info.name().substr(0, kMaxNameBytes)), ")");
  }
  absl::StrAppendFormat(&text, ": %s for %.1f s", absl::AsciiStrToLower(FormatState(info.state())),
                        absl::ToDoubleSeconds(since));
  if (info.node_count() > 0) absl::StrAppend(&text, ", ", Count(info.node_count(), "node"));
  if (info.lane_count() > 0) absl::StrAppend(&text, " in ", Count(info.lane_count(), "lane"));
  return text;
}

}  // namespace weft::cli
