// Launcher: the interface to processes: start one attempt of a job, stop it, learn how it ended.
//
// An attempt is started at most once, whatever crashes: who asks after it later either finds that
// it began, or makes sure that it never will.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/record.h"
#include "base/result.h"
#include "base/units.h"
#include "launch/confinement.h"

namespace partita::launch {

struct AttemptKey {
  JobNumber job;
  std::int64_t number = 0;

  static auto parts(auto& key) { return std::tie(key.job, key.number); }
  auto operator<=>(const AttemptKey&) const = default;
};
// "12.1"
std::string text_of(AttemptKey key);

struct Owner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;

  static auto parts(auto& owner) { return std::tie(owner.uid, owner.gid); }
  bool operator==(const Owner&) const = default;
};

struct Start {
  AttemptKey key;
  std::vector<std::string> argv;         // never empty; argv[0] is looked up in PATH of the job
  std::vector<std::string> environment;  // all of it, as NAME=VALUE
  std::string directory;
  Owner owner;
  // Run before the process is stopped to make space or to go elsewhere; may be empty.
  std::vector<std::string> checkpoint;
  Micros time_limit = {};              // after which it is stopped; 0: none
  std::uint64_t output_bytes_max = 0;  // of all attempts of the job; 0: no limit
  Confinement confinement = {};
  std::string output = {};  // a file of the owner's for what it writes; empty: it is kept here
  std::string script = {};  // begins with #!; what is run with argv[1..]. Empty: argv[0] is
  std::uint64_t output_floor = 0;  // bytes of the disk that its output leaves free; 0: none

  static void fields(auto& self, auto&& visit) {
    visit(Field{.name = "key", .encoding = Encoding::kKey}, self.key);
    visit_named(visit, "argv", self.argv, "environment", self.environment, "directory",
                self.directory, "owner", self.owner, "checkpoint", self.checkpoint, "time_limit",
                self.time_limit);
    // What the daemon adds before it is carried out.
    visit(Field{.name = "output_bytes_max", .digest = false}, self.output_bytes_max);
    visit(Field{.name = "confinement", .digest = false}, self.confinement);
    visit(Field{.name = "output", .encoding = Encoding::kNamed}, self.output);
    visit(Field{.name = "script", .encoding = Encoding::kNamed}, self.script);
    visit(Field{.name = "output_floor", .encoding = Encoding::kNamed, .digest = false},
          self.output_floor);
  }
  bool operator==(const Start&) const = default;
};

struct Report {
  enum class Kind : std::uint8_t {
    kStarted,
    kNotStarted,  // the program cannot be run, or the attempt was never begun and never will be
    kEnded,
    kVanished,  // it began, and neither it nor its end can be found: the machine went down
    kNoSpace,   // it was not begun: the disk has no space to write down its end. May be tried again
  };
  Kind kind = Kind::kStarted;
  AttemptKey key;
  int pid = 0;
  int exit_code = -1;  // kEnded without a signal
  int signal = 0;
  Micros at;               // kStarted, kEnded: of the wall clock
  std::string message;     // kNotStarted, kNoSpace: why; kEnded: the last of its output
  bool over_time = false;  // kEnded: it was stopped at its time limit

  static void fields(auto& self, auto&& visit) {
    visit(Field{.name = "kind", .most = static_cast<double>(Kind::kNoSpace)}, self.kind);
    visit(Field{.name = "key", .encoding = Encoding::kKey}, self.key);
    visit_named(visit, "pid", self.pid, "exit_code", self.exit_code, "signal", self.signal, "at",
                self.at, "message", self.message);
    visit(Field{.name = "over_time", .most = 1, .encoding = Encoding::kTail}, self.over_time);
  }
  bool operator==(const Report&) const = default;
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  // Begins; a report follows, kNoSpace perhaps. An error means that it was not started and never
  // can be.
  virtual Status start(const Start& start) = 0;

  // With `checkpoint`, runs the checkpoint command first. Then SIGTERM to the whole group, and
  // SIGKILL when it is still there after a while. Again is no harm; a report follows.
  virtual void stop(AttemptKey key, bool checkpoint) = 0;

  // What happened since the last call; does not wait.
  virtual std::vector<Report> poll() = 0;

  // What became of an attempt that was to be started by a process that is no more. One that had
  // not begun by now never will. One that runs is watched again, as if started here.
  virtual Report find(AttemptKey key) = 0;

  // Its end is known and written down: nobody will ask again.
  virtual void forget(AttemptKey key) = 0;
};

}  // namespace partita::launch
