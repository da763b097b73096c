#include <algorithm>
#include <array>

#include "api/address.h"
#include "api/tokens.h"
#include "base/text.h"
#include "cli/flags/batch_script.h"
#include "cli/flags/flags.h"
#include "cli/flags/live_values.h"
#include "cli/flags/name_lists.h"
#include "cli/flags/value_parsers.h"

namespace partita::cli {
namespace {

constexpr VerbSet kJobVerbs = set_of(Verb::kJob, Verb::kCancel, Verb::kHold, Verb::kRelease,
                                     Verb::kRequeue, Verb::kLogs, Verb::kWait);
constexpr VerbSet kClients =
    kJobVerbs | set_of(Verb::kSubmit, Verb::kQueue, Verb::kTop, Verb::kShare, Verb::kDrain,
                       Verb::kResume, Verb::kRun, Verb::kHistory, Verb::kQuota);
constexpr VerbSet kSubmitters = set_of(Verb::kSubmit, Verb::kRun);

// One of each kind at most.
Result<std::vector<api::Address>> parse_listen(std::string_view text) {
  std::vector<api::Address> addresses;
  for (const std::string_view each : split(text, '\n')) {
    const Result<api::Address> address = api::parse_address(each);
    if (!address) return address.error();
    if (!each.starts_with("unix:") && !each.starts_with("tcp:")) {
      return Error{"found '" + std::string(each) + "', wanted unix:PATH or tcp:127.0.0.1:PORT"};
    }
    if (std::ranges::count(addresses, address->tcp, &api::Address::tcp) > 0) {
      return Error{"it may be given twice, once for a unix socket and once for TCP"};
    }
    addresses.push_back(*address);
  }
  return addresses;
}

// Of serve: live, an interruption is never free, and one that does not pay is not made.
constexpr std::string_view kServePreemption = "pays=30";

std::vector<std::string> serve_preemption_names() {
  return {"none", "pays="};
}
Result<decide::Preemption> parse_serve_preemption(std::string_view text) {
  using Mode = decide::Preemption::Mode;
  const auto preemption = parse_preemption(text);
  const bool known =
      preemption && (preemption->mode == Mode::kNone || preemption->mode == Mode::kPays);
  if (known) return preemption;
  return Error{"found '" + std::string(text) +
               "', wanted none or pays=SECONDS, for example pays=30"};
}

// clang-format off
constexpr std::array kLiveFlags = std::to_array<FlagRecord>({
    {.name = "backend", .kind = ValueKind::kText, .metavar = "BACKEND",
     .default_text = "nvml",
     .sentence = "GPUs to serve: nvml for those of this machine, simulated:2xa100-40gb for none "
                 "(docs/reference/devices.md).",
     .verbs = set_of(Verb::kServe)},
    {.name = "state", .kind = ValueKind::kText, .metavar = "DIR",
     .sentence = "Folder of the store and of the jobs' output; the default is /var/lib/partita for "
                 "root, else ~/.local/state/partita.",
     .verbs = set_of(Verb::kServe, Verb::kToken, Verb::kReplay)},
    {.name = "listen", .kind = ValueKind::kText, .metavar = "unix:PATH|tcp:127.0.0.1:PORT",
     .sentence = "Socket to serve; the default is where clients look. May be given twice: a port "
                 "of this machine is served beside the socket, to holders of tokens.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_listen>, .repeats = true},
    {.name = "policy", .kind = ValueKind::kText, .metavar = "SCHEDULER/REPARTITIONER",
     .default_text = "mdd+tightest/migm-b",
     .sentence = "Scheduler and repartitioner, as `partita policies` lists them.",
     .verbs = set_of(Verb::kServe)},
    {.name = "shadow", .kind = ValueKind::kSwitch,
     .sentence = "Shadow mode, a dry run: log every start and layout change it would make, as "
                 "carried out on a copy of the fleet, and at the end what they would have cost; "
                 "start and repartition nothing.",
     .verbs = set_of(Verb::kServe)},
    {.name = "no-early-restart", .kind = ValueKind::kSwitch,
     .sentence = "Let jobs run until their memory is out instead of restarting them before.",
     .verbs = set_of(Verb::kServe)},
    {.name = "serve-preemption", .kind = ValueKind::kText, .metavar = "none|pays=SECONDS",
     .default_text = kServePreemption,
     .sentence = "With pays, jobs that have a checkpoint command are stopped, moved and resumed "
                 "where that lowers tardiness by more than it costs; SECONDS is what a restart "
                 "costs.",
     .verbs = set_of(Verb::kServe), .choices = serve_preemption_names,
     .parse = parsed_by<parse_serve_preemption>, .typed = "preemption"},
    {.name = "serve-reserve-after", .kind = ValueKind::kText, .metavar = "SECONDS|off",
     .default_text = "600",
     .sentence = "A job that has waited for so long, or half of its time to spare where no slice "
                 "fits it, is kept a place; others start there only if they are expected to end "
                 "before it is free.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_reserve_after>,
     .typed = "reserve-after"},
    {.name = "serve-fair-share", .kind = ValueKind::kName,
     .metavar = "off|priority|slice-seconds|joules", .default_text = "slice-seconds",
     .sentence = "Jobs of higher priority first, then those of users who have had the least of "
                 "the fleet, measured so; each user's jobs in the scheduler's order.",
     .verbs = set_of(Verb::kServe), .choices = fair_share_names,
     .parse = parsed_by<parse_fair_share>, .typed = "fair-share"},
    {.name = "quotas", .kind = ValueKind::kInput, .metavar = "FILE",
     .sentence = "The most that users and groups may have, a line each (docs/guides/operating.md): "
                 "jobs, running jobs, slices in all and by size, GPU-hours and joules.",
     .verbs = set_of(Verb::kServe)},
    {.name = "preempt-after", .kind = ValueKind::kSeconds, .metavar = "SECONDS",
     .low = 0, .high = 1e7, .unit = "s",
     .sentence = "Stop jobs that have a checkpoint command and have run for so long when their "
                 "slice is to be repartitioned; without it they are waited for, or with "
                 "--preemption pays=S stopped after 3 S.",
     .verbs = set_of(Verb::kServe)},
    {.name = "watch", .kind = ValueKind::kSeconds, .metavar = "SECONDS", .default_text = "1",
     .low = 0.01, .high = 3600, .unit = "s",
     .sentence = "Between two readings of every GPU.", .verbs = set_of(Verb::kServe)},
    {.name = "min-uid", .kind = ValueKind::kCount, .metavar = "UID", .default_text = "0",
     .low = 0, .high = 4'294'967'294.0,
     .sentence = "Jobs of users below are refused, and those of nobody; 0 refuses none.",
     .verbs = set_of(Verb::kServe)},
    {.name = "submit-rate", .kind = ValueKind::kNumber, .metavar = "N", .default_text = "20",
     .low = 0.01, .high = 1e6,
     .sentence = "Submissions a second of one user, in the long run; root and the daemon's own "
                 "user are not held to it.",
     .verbs = set_of(Verb::kServe)},
    {.name = "submit-burst", .kind = ValueKind::kCount, .metavar = "N", .default_text = "100",
     .low = 1, .high = 1'000'000,
     .sentence = "Submissions at once of one user who has waited.", .verbs = set_of(Verb::kServe)},
    {.name = "jobs-per-user", .kind = ValueKind::kCount, .metavar = "N", .default_text = "100000",
     .low = 1, .high = 100'000, .sentence = "Jobs of one user in the queue.",
     .verbs = set_of(Verb::kServe)},
    {.name = "jobs-kept", .kind = ValueKind::kCount, .metavar = "N", .default_text = "100000",
     .low = 1, .high = 1'000'000,
     .sentence = "Jobs that have ended and are kept, with their output; the oldest are forgotten.",
     .verbs = set_of(Verb::kServe)},
    {.name = "connections-per-user", .kind = ValueKind::kCount, .metavar = "N",
     .default_text = "64", .low = 1, .high = 1'024,
     .sentence = "Connections of one user; root and the daemon's own user have 512.",
     .verbs = set_of(Verb::kServe)},
    {.name = "output-max", .kind = ValueKind::kText, .metavar = "BYTES", .default_text = "1G",
     .sentence = "What is kept of a job's output; the job goes on when it writes more.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_bytes>},
    {.name = "output-total-max", .kind = ValueKind::kText, .metavar = "BYTES",
     .default_text = "64G",
     .sentence = "What is kept of the output of all ended jobs; the oldest is removed first.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_bytes>},
    {.name = "output-age-max", .kind = ValueKind::kText, .metavar = "TIME",
     .sentence = "How long output is kept after its job has ended.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_time_span>},
    {.name = "output-floor", .kind = ValueKind::kText, .metavar = "BYTES",
     .sentence = "Space that output leaves on the disk; what jobs write beyond is dropped. "
                 "Default: 256M, or a fifth of a smaller disk.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_bytes>},
    {.name = "disk-floor", .kind = ValueKind::kText, .metavar = "BYTES",
     .sentence = "With less space on the disk no job is taken or started. Default: 64M, or a tenth "
                 "of a smaller disk.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_bytes>},
    {.name = "journal-max", .kind = ValueKind::kText, .metavar = "BYTES", .default_text = "256M",
     .sentence = "What is kept of the journal; then it is closed, and the next start begins a new "
                 "one.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_bytes>},
    {.name = "journal-age-max", .kind = ValueKind::kText, .metavar = "TIME",
     .sentence = "How long a journal may go on; then it is closed, and the next start begins a new "
                 "one.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_time_span>},
    {.name = "time-limit-max", .kind = ValueKind::kText, .metavar = "TIME",
     .sentence = "Longest time limit of a job, and that of jobs that give none.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_time_span>},
    {.name = "job-host-memory", .kind = ValueKind::kText, .metavar = "BYTES",
     .sentence = "Memory of the machine that a job may use; needs cgroups of version 2.",
     .verbs = set_of(Verb::kServe), .parse = parsed_by<parse_bytes>, .typed = "job-memory"},
    {.name = "job-processes", .kind = ValueKind::kCount, .metavar = "N",
     .low = 1, .high = 4'194'304,
     .sentence = "Processes and threads that a job may have; needs cgroups of version 2.",
     .verbs = set_of(Verb::kServe)},
    {.name = "socket", .kind = ValueKind::kText, .metavar = "PATH|tcp:127.0.0.1:PORT",
     .sentence = "Socket or port of the daemon; without it PARTITA_SOCKET, then for others than "
                 "root partita/api.sock in XDG_RUNTIME_DIR or, without that, in ~/.local/state, if "
                 "it is there, else /run/partita/api.sock.",
     .verbs = kClients, .parse = parsed_by<api::parse_address>},
    {.name = "token-file", .kind = ValueKind::kText, .metavar = "FILE",
     .sentence = "File with the token to show on TCP; without it the token is PARTITA_TOKEN.",
     .verbs = kClients},
    {.name = "scope", .kind = ValueKind::kName, .metavar = "SCOPE", .default_text = "read",
     .sentence = "What the token may do: read what its user may see, submit and cancel as its "
                 "user, or be an admin.",
     .verbs = set_of(Verb::kToken), .choices = api::scope_names,
     .parse = parsed_by<api::scope_of>},
    {.name = "expires", .kind = ValueKind::kText, .metavar = "TIME", .default_text = "30d",
     .sentence = "How long the token is good.", .verbs = set_of(Verb::kToken),
     .parse = parsed_by<parse_time_span>},
    {.name = "user", .kind = ValueKind::kText, .metavar = "NAME",
     .sentence = "Whose jobs it submits and sees: a user of this machine, by name or number; the "
                 "default is who makes it. Any other name is one that has no jobs: its token reads "
                 "or is an admin's, and submits none.",
     .verbs = set_of(Verb::kToken)},
    {.name = "job-name", .kind = ValueKind::kText, .metavar = "NAME",
     .sentence = "Name of the job; jobs of one name are expected to need the same memory. The "
                 "default is the name of the program.",
     .verbs = kSubmitters, .typed = "name"},
    {.name = "mem", .kind = ValueKind::kText, .metavar = "10G|auto", .default_text = "auto",
     .sentence = "GPU memory it needs, in GiB (a 2g.10gb of an A100 has 9.62); auto begins as jobs "
                 "of that name ended, or on the smallest slice, and goes to a larger one in time.",
     .verbs = kSubmitters, .parse = parsed_by<parse_memory>},
    {.name = "job-deadline", .kind = ValueKind::kText, .metavar = "+2h|INSTANT",
     .sentence = "When it should be done: from now, or an instant of ISO 8601 in UTC.",
     .verbs = kSubmitters, .parse = parsed_by<parse_deadline>, .typed = "deadline"},
    {.name = "time", .kind = ValueKind::kText, .metavar = "1g=20m,7g=5m",
     .sentence = "How long it takes on slices of some sizes.",
     .verbs = kSubmitters, .parse = parsed_by<parse_slice_times>},
    {.name = "job-time-limit", .kind = ValueKind::kText, .metavar = "2h",
     .sentence = "How long it may run at a time; it is then stopped and has failed.",
     .verbs = kSubmitters, .parse = parsed_by<parse_time_span>, .typed = "time-limit"},
    {.name = "env", .kind = ValueKind::kText, .metavar = "NAME=VALUE",
     .sentence = "A variable of its environment; may be given several times.",
     .verbs = kSubmitters, .parse = parsed_by<parse_variables>, .repeats = true},
    {.name = "job-checkpoint", .kind = ValueKind::kText, .metavar = "COMMAND",
     .sentence = "Command that saves its work, run before it is stopped to begin again elsewhere; "
                 "PARTITA_PID is the job's process. Split into words, not given to a shell.",
     .verbs = kSubmitters, .parse = parsed_by<split_command>, .typed = "checkpoint"},
    {.name = "comment", .kind = ValueKind::kText, .metavar = "TEXT",
     .sentence = "A line of text for people; job and queue --json show it.",
     .verbs = kSubmitters},
    {.name = "chdir", .kind = ValueKind::kText, .metavar = "DIR",
     .sentence = "Folder it runs in; the default is the one this is called from.",
     .verbs = kSubmitters},
    {.name = "job-output", .kind = ValueKind::kText, .metavar = "FILE",
     .sentence = "File for what it writes, opened with the owner's rights in the folder it runs "
                 "in: emptied by the first attempt, appended to by later ones. %j is the number of "
                 "the job, %A that of its array, %a its index there, %x its name, %% a percent "
                 "sign. Without it the daemon keeps the output.",
     .verbs = set_of(Verb::kSubmit), .typed = "output"},
    {.name = "export", .kind = ValueKind::kText, .metavar = "NAME[=VALUE],...|ALL|NONE",
     .default_text = "NONE",
     .sentence = "Variables of this environment that go along, as with sbatch: those named, or "
                 "ALL, to which NAME=VALUE may be added. Those that say where a job runs, and "
                 "tokens, stay behind. --env wins over it.",
     .verbs = kSubmitters, .parse = parsed_by<parse_export>},
    {.name = "array", .kind = ValueKind::kText, .metavar = "N[%LIMIT]", .default_text = "1",
     .sentence = "Submit it so many times, at most 10000; with a limit, so many run at once. Each "
                 "gets PARTITA_ARRAY_INDEX, from 0, and PARTITA_ARRAY_JOB, the number of the "
                 "first.",
     .verbs = set_of(Verb::kSubmit), .parse = parsed_by<parse_array>},
    {.name = "after", .kind = ValueKind::kText, .metavar = "JOB[:ok|:any]",
     .sentence = "Start it when these jobs have ended: with :ok, the default, they have to "
                 "succeed, else it is cancelled; with :any it does not matter how. May be given "
                 "several times, and takes lists, as in 12,14-20:any.",
     .verbs = kSubmitters, .parse = parsed_by<parse_after>, .repeats = true},
    {.name = "hold", .kind = ValueKind::kSwitch,
     .sentence = "Do not start it until `partita release`.", .verbs = set_of(Verb::kSubmit)},
    {.name = "no-requeue", .kind = ValueKind::kSwitch,
     .sentence = "Never start it again unless `partita requeue` asks for it: it is not moved, and "
                 "when its process or GPU is lost, so is the job.",
     .verbs = kSubmitters},
    {.name = "job-no-early-restart", .kind = ValueKind::kSwitch,
     .sentence = "Let it run until its memory is out instead of restarting it before.",
     .verbs = kSubmitters, .typed = "no-early-restart"},
    {.name = "priority", .kind = ValueKind::kText, .metavar = "N",
     .sentence = "Rank among other jobs, higher first, from -1000000 to 1000000; 0 without it, and "
                 "above 0 for admins only.",
     .verbs = kSubmitters, .parse = parsed_by<parse_priority>},
    {.name = "all", .kind = ValueKind::kSwitch, .sentence = "Jobs that have ended too.",
     .verbs = set_of(Verb::kQueue)},
    {.name = "filter-user", .kind = ValueKind::kText, .metavar = "NAME",
     .sentence = "Only jobs of this user, a name or a number.",
     .verbs = set_of(Verb::kQueue, Verb::kCancel), .typed = "user"},
    {.name = "quota-user", .kind = ValueKind::kText, .metavar = "NAME",
     .sentence = "Of this user alone, a name or a number; of others for admins only.",
     .verbs = set_of(Verb::kQuota), .typed = "user"},
    {.name = "filter-state", .kind = ValueKind::kText, .metavar = "STATES",
     .sentence = "Only jobs in one of these states, with commas between: queued, starting, "
                 "running, restarting, cancelling, done, failed, cancelled, lost, or active for "
                 "those that have not ended.",
     .verbs = set_of(Verb::kQueue, Verb::kCancel), .typed = "state"},
    {.name = "filter-name", .kind = ValueKind::kText, .metavar = "NAME",
     .sentence = "Only jobs of this name; one's own, unless root asks.",
     .verbs = set_of(Verb::kQueue, Verb::kCancel), .typed = "name"},
    {.name = "limit", .kind = ValueKind::kCount, .metavar = "N", .default_text = "10000",
     .low = 1, .high = 1'000'000,
     .sentence = "Show so many at most: those that hold a slice first, then those that wait, the "
                 "longest first, then those that have ended, the latest first. A line says what is "
                 "not shown.",
     .verbs = set_of(Verb::kQueue)},
    {.name = "follow", .kind = ValueKind::kSwitch,
     .sentence = "Go on with what it writes until it ends.", .verbs = set_of(Verb::kLogs),
     .letter = "f"},
    {.name = "once", .kind = ValueKind::kSwitch, .sentence = "One picture, also on a terminal.",
     .verbs = set_of(Verb::kTop)},
    {.name = "job-id", .kind = ValueKind::kCount, .metavar = "N", .low = 1, .high = 1e15,
     .sentence = "Only turns that concern this job.", .verbs = set_of(Verb::kReplay),
     .typed = "job"},
    {.name = "last", .kind = ValueKind::kCount, .metavar = "N", .low = 1, .high = 1e9,
     .sentence = "Show only the last so many turns; all are replayed.",
     .verbs = set_of(Verb::kReplay)},
    {.name = "since", .kind = ValueKind::kText, .metavar = "TIME|INSTANT",
     .sentence = "Jobs that ended since then: so long ago, as 7d, or an instant of ISO 8601 in "
                 "UTC.",
     .verbs = set_of(Verb::kHistory), .parse = parsed_by<parse_since>},
    {.name = "until", .kind = ValueKind::kText, .metavar = "TIME|INSTANT",
     .sentence = "Jobs that ended before then; the default is now.",
     .verbs = set_of(Verb::kHistory), .parse = parsed_by<parse_since>},
    {.name = "by", .kind = ValueKind::kName, .metavar = "user|job|name", .default_text = "user",
     .sentence = "What a line is of.", .verbs = set_of(Verb::kHistory),
     .choices = [] { return Names{"user", "job", "name"}; }},
    {.name = "csv", .kind = ValueKind::kSwitch, .sentence = "Print CSV instead of a table.",
     .verbs = set_of(Verb::kHistory)},
    {.name = "SCRIPT", .kind = ValueKind::kText, .metavar = "SCRIPT",
     .sentence = "A batch script in place of a program; what follows are its arguments.",
     .verbs = set_of(Verb::kSubmit)},
    {.name = "reason", .kind = ValueKind::kText, .metavar = "TEXT",
     .sentence = "Why, for whoever asks.", .verbs = set_of(Verb::kDrain)},
    {.name = "GPU", .kind = ValueKind::kCount, .metavar = "GPU", .low = 0, .high = 1e6,
     .sentence = "Number of the GPU, as top shows it.",
     .verbs = set_of(Verb::kDrain, Verb::kResume)},
    {.name = "JOB", .kind = ValueKind::kText, .metavar = "JOB",
     .sentence = "Number of the job; job and logs take one, the others several, as in 12 14-20 or "
                 "12,14-20.",
     .verbs = kJobVerbs, .parse = parsed_by<parse_job_numbers>, .repeats = true},
    {.name = "DO", .kind = ValueKind::kName, .metavar = "create|list|revoke",
     .sentence = "What to do with the tokens.", .verbs = set_of(Verb::kToken),
     .choices = [] { return Names{"create", "list", "revoke"}; }},
    {.name = "ID", .kind = ValueKind::kText, .metavar = "ID",
     .sentence = "The token to revoke, as list names it.", .verbs = set_of(Verb::kToken)},
});
// clang-format on

}  // namespace

std::span<const FlagRecord> live_flag_records() {
  return kLiveFlags;
}

}  // namespace partita::cli
