// JobSpec: what a user asks for, and its text in the store.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record.h"
#include "base/result.h"
#include "base/units.h"
#include "control/limits.h"
#include "workload/job.h"

namespace partita::control {

// The largest priority, and the least is its negative. Above 0 is for admins.
inline constexpr double kPriorityMost = 1e6;

// Ten years: of a run, and of a limit of one.
inline constexpr double kSpanSecondsMax = 10.0 * 366 * 24 * 3600;

// Everything that the owner of a job says about it; docs/internals/adding/job-field.md adds to it.
struct JobSpec {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=VALUE, beside what every job gets
  std::string directory;                 // absolute
  std::string name;                      // [A-Za-z0-9._-]+
  std::optional<double> memory_gib;      // nothing: to be found out
  std::optional<Micros> deadline;        // of the wall clock
  std::array<std::optional<Micros>, workload::kSliceSizeCount> times;
  std::vector<std::string> checkpoint;      // a command; empty: none
  std::optional<Micros> time_limit;         // of each attempt
  std::optional<std::string> comment;       // for people
  std::optional<std::string> output;        // absolute path of its owner's, %j for its number
  std::optional<std::string> script;        // what is run, with argv[1..]; argv[0] is its name
  std::vector<std::string> after;           // dependencies, as parse_dependency() reads them
  bool hold = false;                        // until it is released
  std::optional<std::int64_t> array_limit;  // of an array, so many run at once
  bool no_requeue = false;                  // it is never started again unless somebody asks for it
  bool no_early_restart = false;            // not before its memory is out
  std::optional<std::int64_t> priority;     // higher first; 0 where there is none

  static void fields(auto& spec, auto&& visit) {
    visit(Field{.name = "argv",
                .doc = "The program and its arguments, all of them 128 KiB at most",
                .most = static_cast<double>(Limits{}.argv_bytes_max),
                .shown = Shown::kInLists,
                .required = true,
                .items = static_cast<double>(Limits{}.argv_bytes_max)},
          spec.argv);
    visit(Field{.name = "env",
                .doc = "NAME=VALUE, beside what every job gets. CUDA_VISIBLE_DEVICES, "
                       "NVIDIA_VISIBLE_DEVICES and PARTITA_ names are not the job's to set",
                .shown = Shown::kNever,
                .items = static_cast<double>(Limits{}.environment_entries_max),
                .pattern = "^[^=]+="},
          spec.environment);
    visit(Field{.name = "directory",
                .doc = "Where it runs",
                .most = 4096,
                .required = true,
                .pattern = "^/"},
          spec.directory);
    visit(Field{.name = "name",
                .doc = "Jobs of one name are expected to need the same memory; without it, the "
                       "file name of the program",
                .most = static_cast<double>(Limits{}.name_bytes_max),
                .shown = Shown::kInLists,
                .pattern = "^[A-Za-z0-9._-]+$"},
          spec.name);
    visit(Field{.name = "memory_gib",
                .doc = "GPU memory it needs; without it that is found out",
                .most = 10'000,
                .absent = "auto"},
          spec.memory_gib);
    visit(Field{.name = "deadline_s",
                .doc = "When it should be done, in seconds since 1970",
                .most = 1e11},
          spec.deadline);
    visit(Field{.name = "times_s",
                .doc = "How long it takes, by compute slices of its slice",
                .most = kSpanSecondsMax},
          spec.times);
    visit(Field{.name = "checkpoint",
                .doc = "Command that saves its work before it is stopped",
                .most = static_cast<double>(Limits{}.argv_bytes_max),
                .items = static_cast<double>(Limits{}.argv_bytes_max)},
          spec.checkpoint);
    visit(Field{.name = "time_limit_s",
                .doc = "How long each attempt may run",
                .most = kSpanSecondsMax,
                .encoding = Encoding::kTail},
          spec.time_limit);
    visit(Field{.name = "comment",
                .doc = "A line of text for people",
                .most = 1024,
                .encoding = Encoding::kNamed,
                .shown = Shown::kInLists,
                .line = true},
          spec.comment);
    file_fields(spec, visit);
    queue_fields(spec, visit);
  }
  // Those of the batch script and of the output.
  static void file_fields(auto& spec, auto&& visit) {
    visit(Field{.name = "output",
                .doc = "File for what it writes, opened with its owner's rights; %j is its number, "
                       "%A that of its array, %a its index there, %x its name and %% a percent "
                       "sign. Without it the daemon keeps the output",
                .most = 4096,
                .encoding = Encoding::kNamed,
                .line = true},
          spec.output);
    visit(Field{.name = "script",
                .doc = "A script that begins with #!, run in place of a program with the arguments "
                       "of argv; argv[0] is its name",
                .most = 65536,
                .encoding = Encoding::kNamed},
          spec.script);
  }
  // Those that say when it may start, and whether again.
  static void queue_fields(auto& spec, auto&& visit) {
    visit(Field{.name = "after",
                .doc = "Jobs that have to end before it starts: NUMBER or NUMBER:ok, which has to "
                       "succeed, or NUMBER:any",
                .encoding = Encoding::kNamed},
          spec.after);
    visit(Field{.name = "hold",
                .doc = "It does not start until it is released",
                .encoding = Encoding::kNamed},
          spec.hold);
    visit(Field{.name = "array_limit",
                .doc = "At most so many jobs of the array run at once",
                .most = 1e6,
                .encoding = Encoding::kNamed},
          spec.array_limit);
    visit(Field{.name = "no_requeue",
                .doc = "It is not started again by itself: when its attempt is lost, so is it",
                .encoding = Encoding::kNamed},
          spec.no_requeue);
    visit(Field{.name = "no_early_restart",
                .doc = "It is not moved to a larger slice before its memory is out",
                .encoding = Encoding::kNamed},
          spec.no_early_restart);
    visit(Field{.name = "priority",
                .doc = "Jobs of a higher one go first; above 0 is for admins",
                .most = kPriorityMost,
                .encoding = Encoding::kNamed,
                .shown = Shown::kInLists,
                .negative = true},
          spec.priority);
  }
  bool operator==(const JobSpec&) const = default;
};

// Of a job that is given none: the file name of its program, less what names of jobs do not have.
std::string name_of_program(std::string_view program);

// Whether a variable of the environment says where a job runs, which is not the job's to say.
// PARTITA_SOCKET and PARTITA_TOKEN are what clients take, and may be given to a job that is one.
bool is_reserved_variable(std::string_view name);

// A job that has to end before another starts.
struct Dependency {
  JobNumber job;
  bool any = false;  // however it ends; else it has to succeed
};
inline constexpr std::size_t kDependenciesMax = 1'000;  // of one job

// "12", "12:ok", "12:any"; nothing for another text.
std::optional<Dependency> parse_dependency(std::string_view text);

// Why it cannot be accepted: names, sizes, bytes that no program could be given.
Status check_spec(const JobSpec& spec, const Limits& limits);

// Which job of which array it is; kNoJob where there is none.
struct ArrayPlace {
  JobNumber job;
  JobNumber array_job = kNoJob;
  std::int64_t index = 0;
};

// The path of the file for its output with %j and the like replaced; empty: the daemon keeps it.
// REQUIRES: check_spec() took it.
std::string output_path_of(const JobSpec& spec, const ArrayPlace& place);

// Fields one after the other, each as LENGTH:BYTES, so that any byte may stand in them.
std::string encode_spec(const JobSpec& spec);
Result<JobSpec> decode_spec(std::string_view text);

// As policies see the job: times that were not given are filled in from those that were, or from an
// hour on the whole GPU; so is a deadline (30 days). `need_gib` is the memory it is believed to
// need.
workload::Job as_policy_job(const JobSpec& spec, Micros submitted, double need_gib);

}  // namespace partita::control
