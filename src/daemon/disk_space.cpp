#include "daemon/disk_space.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <utility>

namespace partita::daemon {
namespace {

constexpr Micros kLookInterval = Micros{200'000};
// After a failure nothing is tried for so long, or a disk at its end would see a try a turn.
constexpr Micros kFailureRest = Micros::seconds(2);

// The figure, or a share of the disk where that is less.
std::uint64_t at_most_share(std::uint64_t bytes, const std::optional<DiskFigures>& disk,
                            std::uint64_t share) {
  return disk && disk->bytes > 0 ? std::min(bytes, disk->bytes / share) : bytes;
}

}  // namespace

std::optional<DiskFigures> figures_of(const std::string& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return {};
  DiskFigures figures;
  figures.free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  figures.bytes = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
  if (disk.f_files > 0) figures.free_files = disk.f_favail;
  return figures;
}

std::uint64_t default_output_floor(const std::string& folder) {
  return at_most_share(kOutputFloorBytes, figures_of(folder), kOutputFloorShare);
}

std::uint64_t log_reserve(const std::string& folder) {
  return at_most_share(kLogReserveBytes, figures_of(folder), kLogReserveShare);
}

DiskSpace::DiskSpace(std::string folder, std::optional<std::uint64_t> floor, Look look,
                     Try try_to_write)
    : folder_(std::move(folder)),
      floor_given_(floor),
      look_(std::move(look)),
      try_to_write_(std::move(try_to_write)) {}

// What the figures say; empty: enough is left. Once closed it takes a quarter more.
std::string DiskSpace::shortage() const {
  const std::uint64_t floor =
      floor_given_.value_or(at_most_share(kDiskFloorBytes, figures_, kDiskFloorShare));
  const std::uint64_t wanted = why_.empty() ? floor : floor + floor / 4;
  if (figures_.free_bytes < wanted) {
    return fmt::format(
        "the disk of {} has less than {} MiB left: no job is taken or started until there is space",
        folder_, floor >> 20U);
  }
  const std::uint64_t files = why_.empty() ? kFilesMin : kFilesMin * 2;
  if (figures_.free_files && *figures_.free_files < files) {
    return fmt::format(
        "the disk of {} has space for fewer than {} files: no job is taken or started until there "
        "is",
        folder_, kFilesMin);
  }
  return {};
}

void DiskSpace::look(Micros now) {
  if (looked_at_ && now >= *looked_at_ && now - *looked_at_ < kLookInterval) return;
  looked_at_ = now;
  const auto found = look_();
  if (!found) return;
  figures_ = *found;
  if (failed_at_) {
    const bool rested = now < *failed_at_ || now - *failed_at_ >= kFailureRest;
    if (!rested || !shortage().empty()) return;
    if (!try_to_write_()) {
      failed_at_ = now;
      return;
    }
    failed_at_.reset();
  }
  why_ = shortage();
}

void DiskSpace::note_failure(Micros now, const std::string& what) {
  failed_at_ = now;
  why_ = fmt::format("the disk of {} is full: no job is taken or started until there is space ({})",
                     folder_, what);
}

}  // namespace partita::daemon
