// The flags of advice, sizes, searches and experiments.
#include <array>
#include <optional>

#include "cli/flags/flags.h"
#include "cli/flags/limits.h"
#include "cli/flags/name_lists.h"
#include "cli/flags/value_parsers.h"
#include "experiment/seeds.h"

namespace partita::cli {
namespace {

// Choices are made by the days to tune on.
std::optional<experiment::Role> role_judged_on(std::string_view name) {
  return name == "test" ? experiment::Role::kTest : experiment::Role::kTune;
}

// clang-format off
constexpr std::array kStudyFlags = std::to_array<FlagRecord>({
    // Advice
    {.name = "checkpoint-cost", .kind = ValueKind::kSeconds, .metavar = "SECONDS",
     .low = 0, .high = kSecondsMax, .unit = "s",
     .sentence = "What a checkpoint and a restart cost together; without it no job is interrupted.",
     .verbs = set_of(Verb::kAdvise)},
    {.name = "today", .kind = ValueKind::kText, .metavar = "POLICIES",
     .sentence = "Today's policies, SCHEDULER/REPARTITIONER separated by blanks; the default is "
                 "first "
                 "come first served on one layout for all GPUs as tuned by hand, on whole GPUs, "
                 "and with an instance made for each job.",
     .verbs = set_of(Verb::kAdvise)},
    {.name = "advise-windows", .kind = ValueKind::kCount, .metavar = "N", .default_text = "60",
     .low = 3, .high = kDaysMax,
     .sentence = "Windows to tune on and windows to judge on, at most so many of each.",
     .verbs = set_of(Verb::kAdvise), .typed = "windows"},
    {.name = "also-try", .kind = ValueKind::kText, .metavar = "POLICIES",
     .sentence = "Further repartitioners to try, separated by blanks, as "
                 "learned:FILE.",
     .verbs = set_of(Verb::kAdvise)},

    // Sizes, search and experiments
    {.name = "max-late", .kind = ValueKind::kText, .metavar = "SHARE", .default_text = "5%",
     .sentence = "Share of jobs that may be late, as 5% or 0.05.", .verbs = set_of(Verb::kSize),
     .parse = parsed_by<parse_share>},
    {.name = "max-gpus", .kind = ValueKind::kCount, .metavar = "N", .default_text = "1024",
     .low = 1, .high = kGpusMax, .sentence = "Largest fleet to try.",
     .verbs = set_of(Verb::kSize)},
    {.name = "days", .kind = ValueKind::kCount, .metavar = "N", .default_text = "20",
     .low = 1, .high = kDaysMax,
     .sentence = "Days: of tune and distill, to tune on; of experiment, to test on. No day is "
                 "both.",
     .verbs = set_of(Verb::kTune, Verb::kExperiment, Verb::kDistill)},
    {.name = "quick", .kind = ValueKind::kSwitch, .sentence = "Five days, for a first look.",
     .verbs = set_of(Verb::kExperiment)},
    {.name = "out-dir", .kind = ValueKind::kText, .metavar = "DIR", .default_text = ".",
     .sentence = "Where the runs are kept.", .verbs = set_of(Verb::kExperiment)},
    {.name = "until-decided", .kind = ValueKind::kSwitch,
     .sentence = "Go on beyond --days until every difference to the reference is decided, by a "
                 "test that may be looked at as often as one likes; at most 2,000 days.",
     .verbs = set_of(Verb::kExperiment)},
    {.name = "traces", .kind = ValueKind::kText, .metavar = "DIR",
     .sentence = "Folder with published traces: real-workloads, reservations and sensitivity then "
                 "ask about them too.",
     .verbs = set_of(Verb::kExperiment)},
    {.name = "restart", .kind = ValueKind::kSwitch,
     .sentence = "Throw away the runs that are there instead of going on with them.",
     .verbs = set_of(Verb::kExperiment)},
    {.name = "on", .kind = ValueKind::kName, .metavar = "test|validation",
     .default_text = "test",
     .sentence = "Which days to judge on: test days, or the days that choices are made by.",
     .verbs = set_of(Verb::kEvaluate), .choices = [] { return Names{"test", "validation"}; },
     .parse = parsed_by<role_judged_on>},
    {.name = "test-days", .kind = ValueKind::kCount, .metavar = "N", .default_text = "40",
     .low = 2, .high = kDaysMax, .sentence = "Days to judge the result on.",
     .verbs = set_of(Verb::kTune, Verb::kEvaluate)},
    {.name = "evaluations", .kind = ValueKind::kCount, .metavar = "N", .default_text = "1000",
     .low = 1, .high = kEvaluationsMax,
     .sentence = "Plans a search tries on all its days, at most; one dropped early counts less.",
     .verbs = set_of(Verb::kTune, Verb::kAdvise)},
    {.name = "folds", .kind = ValueKind::kCount, .metavar = "K", .default_text = "5", .high = 1'000,
     .sentence = "Parts of the tuning days that are left out in turn, to judge on them what the "
                 "others find; 0: none.", .verbs = set_of(Verb::kTune)},
    {.name = "all-windows", .kind = ValueKind::kSwitch,
     .sentence = "Tune on every window of a trace; then only the folds judge the result.",
     .verbs = set_of(Verb::kTune)},
    {.name = "switches", .kind = ValueKind::kCount, .metavar = "K", .default_text = "2",
     .low = 1, .high = 24,
     .sentence = "Switches a day of a timetable; with one it is a static mix.",
     .verbs = set_of(Verb::kTune)},
});
// clang-format on

}  // namespace

std::span<const FlagRecord> study_flag_records() {
  return kStudyFlags;
}

}  // namespace partita::cli
