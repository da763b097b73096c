// DiskSpace: how much is left on the disk of the state, and whether jobs may be taken and started.
//
// Below a floor, and after a write that failed for want of space, they may not: what is left is for
// the ends of those that run. They may again once there is a quarter more than the floor, and after
// a failure once something can be written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/units.h"

namespace partita::daemon {

// With less no job is taken or started; and with less no output is kept. On a small disk no more
// than a share of it, where the operator gives no figure.
inline constexpr std::uint64_t kDiskFloorBytes = 64ULL << 20U;
inline constexpr std::uint64_t kOutputFloorBytes = 256ULL << 20U;
inline constexpr std::uint64_t kDiskFloorShare = 10;
inline constexpr std::uint64_t kOutputFloorShare = 5;
// What the store takes beforehand for its commits, so that those of a full disk still work.
inline constexpr std::uint64_t kLogReserveBytes = 32ULL << 20U;
inline constexpr std::uint64_t kLogReserveShare = 8;
// Files that must be left, where a disk counts them.
inline constexpr std::uint64_t kFilesMin = 256;

struct DiskFigures {
  std::uint64_t free_bytes = 0;  // for who is not root
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> free_files;  // nothing: the disk does not count them
};
// Of the disk that the folder is on; nothing: it cannot be asked.
std::optional<DiskFigures> figures_of(const std::string& folder);

// What output leaves free on the disk of the folder, where the operator gives no figure, and what
// the store there takes beforehand.
std::uint64_t default_output_floor(const std::string& folder);
std::uint64_t log_reserve(const std::string& folder);

class DiskSpace {
 public:
  using Look = std::function<std::optional<DiskFigures>()>;
  using Try = std::function<bool()>;

  // `floor`: the operator's; nothing: the default. `look` reads the figures, `try_to_write` says
  // whether something can be written.
  DiskSpace(std::string folder, std::optional<std::uint64_t> floor, Look look, Try try_to_write);

  // From time to time; what it finds holds until the next.
  void look(Micros now);
  // A write failed for want of space, whatever the figures say: a quota, for example.
  void note_failure(Micros now, const std::string& what);

  bool has_space() const { return why_.empty(); }
  // One sentence; empty: there is space.
  const std::string& why() const { return why_; }
  std::uint64_t free_bytes() const { return figures_.free_bytes; }

 private:
  std::string shortage() const;

  std::string folder_;
  std::optional<std::uint64_t> floor_given_;
  Look look_;
  Try try_to_write_;
  DiskFigures figures_;
  std::optional<Micros> looked_at_;
  std::optional<Micros> failed_at_;
  std::string why_;
};

}  // namespace partita::daemon
