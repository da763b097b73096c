// AttemptFiles: what is written about an attempt, so that it outlives whoever started it.
//
// One folder holds all attempts, as files KEY.spec, KEY.lock, KEY.claim, KEY.pid, KEY.stop and
// KEY.exit; docs/concepts/live.md describes them. The claim is what makes an attempt begin at most
// once: it is made by exactly one process, the supervisor that then runs the job, or the daemon
// that decides that nobody shall. The space of all but the claim is taken before an attempt begins,
// and they are overwritten in place, so that a disk that fills up meanwhile keeps no end from being
// written down.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "launch/launcher.h"

namespace partita::launch {

class AttemptFiles {
 public:
  explicit AttemptFiles(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  std::string path(AttemptKey key, const char* ending) const;
  // The output of all attempts of a job, one after the other.
  std::string output_path(JobNumber job) const;

  // To read it; -1 when there is none, or something else in its place. No link is followed.
  int open_output(JobNumber job) const;

  Status make_folders() const;

  // ---- the daemon

  Status write_spec(const Start& start) const;  // after an error errno says which
  // Takes the space for all that will be written about the attempt, and for a file of its output.
  // 0, or the error of the system; there is nothing of it then.
  int reserve(AttemptKey key) const;
  // Whether an attempt could be reserved now.
  bool can_write() const;
  // Nobody will begin the attempt any more. False: somebody has.
  bool revoke(AttemptKey key) const;
  bool revoked(AttemptKey key) const;
  // The supervisor that claimed it is alive.
  std::optional<int> supervisor(AttemptKey key) const;
  Status write_stop(AttemptKey key, bool checkpoint) const;
  void remove(AttemptKey key) const;
  // All files of all attempts but these: what a daemon that was killed did not come to remove.
  void remove_except(const std::set<AttemptKey>& kept) const;

  // ---- the supervisor

  Result<Start> read_spec(AttemptKey key) const;
  // Not forgotten yet.
  bool has_spec(AttemptKey key) const;
  // A lock that lasts as long as the process does; -1: another has it.
  int lock(AttemptKey key) const;
  bool claim(AttemptKey key) const;
  Status write_pid(AttemptKey key, int pid, Micros at) const;
  Status write_end(const Report& report) const;
  // Whether it shall stop, and whether to run the checkpoint command before.
  std::optional<bool> read_stop(AttemptKey key) const;

  // ---- both

  // How it began and ended; nothing: not yet.
  std::optional<Report> read_pid(AttemptKey key) const;
  std::optional<Report> read_end(AttemptKey key) const;

 private:
  std::string folder_;
};

// "12.1", from the front of "12.1.exit".
std::optional<AttemptKey> key_of(std::string_view file_name);

}  // namespace partita::launch
