// LocalLauncher: jobs as processes of this machine, each under a supervisor of its own.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "launch/attempt_files.h"
#include "launch/launcher.h"

namespace partita::launch {

class LocalLauncher : public Launcher {
 public:
  struct Options {
    std::string folder;
    // The command that calls supervise(): the folder and the key are added to it.
    std::vector<std::string> supervisor;
    std::vector<std::string> supervisor_environment;
    std::uint64_t output_bytes_max = 0;  // of a job; 0: no limit
    std::uint64_t output_floor = 0;      // see Start
    std::string cgroups;                 // where attempts get cgroups; empty: they get none
    std::uint64_t memory_max = 0;        // of an attempt, see Confinement
    std::uint64_t pids_max = 0;
  };
  // `clock` outlives the launcher.
  LocalLauncher(Options options, Clock& clock);
  ~LocalLauncher() override;
  LocalLauncher(const LocalLauncher&) = delete;
  LocalLauncher& operator=(const LocalLauncher&) = delete;

  Status open();
  // Readable when poll() has something to say soon.
  int wake_fd() const { return inotify_; }
  const AttemptFiles& files() const { return files_; }

  Status start(const Start& start) override;
  void stop(AttemptKey key, bool checkpoint) override;
  std::vector<Report> poll() override;
  Report find(AttemptKey key) override;
  void forget(AttemptKey key) override;
  // At the start: forgets all attempts but these, whoever left them.
  void forget_except(const std::set<AttemptKey>& kept);

 private:
  struct Watched {
    bool told_start = false;
    Micros since;
  };
  Start confined(Start start) const;
  void sweep(AttemptKey key) const;
  void look_at(AttemptKey key, std::vector<Report>& reports);
  void look_for_lost(std::vector<Report>& reports);
  Status spawn(AttemptKey key);
  bool send_stop(AttemptKey key, bool checkpoint);
  std::vector<AttemptKey> changed_keys();

  Options options_;
  Clock& clock_;
  AttemptFiles files_;
  int inotify_ = -1;
  std::map<AttemptKey, Watched> watched_;
  std::map<AttemptKey, bool> unsent_stops_;  // for want of space; with a checkpoint or not
  std::vector<Report> not_begun_;            // to be told by the next poll()
  Micros looked_at_all_;
};

}  // namespace partita::launch
