#include "daemon/output_keeper.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace partita::daemon {
namespace {

// Of the disk, which is what counts; a hole takes none.
constexpr std::uint64_t kBytesOfBlock = 512;

}  // namespace

void OutputKeeper::open(const Known& known) {
  std::vector<JobNumber> found;
  std::error_code ignored;
  const std::string folder = files_.folder() + "/output";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (const auto number = parse_int(entry.path().filename().string())) {
      found.push_back(JobNumber{*number});
    }
  }
  for (const JobNumber job : found) {
    if (!known(job)) {
      ::unlink(files_.output_path(job).c_str());
    } else if (const auto ended = end_of_(job)) {
      note_ended(job, *ended);
    }
  }
}

void OutputKeeper::note_ended(JobNumber job, Micros at) {
  drop(job);
  struct stat file {};
  if (::lstat(files_.output_path(job).c_str(), &file) != 0) return;
  const Kept kept{at, static_cast<std::uint64_t>(file.st_blocks) * kBytesOfBlock};
  kept_.emplace(job, kept);
  by_age_.emplace(at, job);
  bytes_ += kept.bytes;
}

void OutputKeeper::drop(JobNumber job) {
  const auto kept = kept_.find(job);
  if (kept == kept_.end()) return;
  bytes_ -= kept->second.bytes;
  by_age_.erase({kept->second.ended, job});
  kept_.erase(kept);
}

std::vector<JobNumber> OutputKeeper::keep(const store::Batch& batch, Micros now) {
  for (const store::JobProgress& progress : batch.progress) {
    if (const auto ended = end_of_(progress.id)) note_ended(progress.id, *ended);
  }
  for (const JobNumber job : batch.forgotten_jobs) {
    drop(job);
    ::unlink(files_.output_path(job).c_str());
  }
  return sweep(now);
}

std::vector<JobNumber> OutputKeeper::sweep(Micros now) {
  std::vector<JobNumber> removed;
  while (!by_age_.empty()) {
    const auto [ended, job] = *by_age_.begin();
    const bool old = limits_.age_max > Micros{} && now - ended > limits_.age_max;
    const bool much = limits_.bytes_max > 0 && bytes_ > limits_.bytes_max;
    if (!old && !much) break;
    drop(job);
    if (!end_of_(job)) continue;  // it runs again
    ::unlink(files_.output_path(job).c_str());
    removed.push_back(job);
  }
  return removed;
}

}  // namespace partita::daemon
