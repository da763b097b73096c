#include <array>

#include "base/text.h"
#include "bounds/report.h"
#include "cli/flags/flags.h"
#include "cli/flags/limits.h"
#include "cli/flags/name_lists.h"
#include "cli/flags/value_parsers.h"
#include "learn/trainer.h"
#include "mig/gpu_model.h"
#include "policies/registry.h"
#include "workload/curve_mix.h"
#include "workload/generators/profiles.h"

namespace partita::cli {
namespace {

using workload::kGibMax;
using workload::kHoursMax;
using workload::kMinutesMax;
using workload::kRateMax;
using workload::kSlackMax;

constexpr VerbSet kEvery = ~VerbSet{0};
constexpr VerbSet kLearns = set_of(Verb::kTrain, Verb::kEvaluate, Verb::kDistill);
constexpr VerbSet kDays = set_of(Verb::kTune, Verb::kExperiment) | kLearns;
constexpr VerbSet kRuns = kDays | set_of(Verb::kSimulate, Verb::kCompare, Verb::kSize);
constexpr VerbSet kBounds = kRuns | set_of(Verb::kBound);
constexpr VerbSet kCounts = kBounds | set_of(Verb::kAdvise);
constexpr VerbSet kMakes = kCounts | set_of(Verb::kGenerate);
constexpr VerbSet kReads = kCounts | set_of(Verb::kConvert);
constexpr double kWindowJobsMax = 16;
constexpr double kMedianMax = kMinutesMax * 60;

Result<std::vector<double>> parse_hourly(std::string_view text) {
  return parse_numbers(text, 24, kRateMax);
}
Result<std::vector<double>> parse_memories(std::string_view text) {
  return parse_numbers(text, 4, kGibMax);
}
Result<std::vector<std::string>> parse_rates(std::string_view text) {
  std::vector<std::string> rates;
  for (const std::string_view rate : split(text, ',')) rates.emplace_back(trim(rate));
  return rates;
}
std::optional<learn::PlaceReward> reward_named(std::string_view name) {
  using Reward = learn::PlaceReward;
  return name == "corrected" ? Reward::kCorrected : Reward::kPublished;
}

// clang-format off
constexpr std::array kFlags = std::to_array<FlagRecord>({
    // What is asked
    {.name = "gpu", .kind = ValueKind::kText, .metavar = "MODEL", .default_text = "a100-40gb",
     .sentence = "GPU model; `partita gpus` lists them.",
     .verbs = kCounts | set_of(Verb::kLayouts), .section = "cluster",
     .choices = gpu_names, .parse = parsed_by<mig::find_gpu>},
    {.name = "profiles", .kind = ValueKind::kSwitch,
     .sentence = "Also list the profiles and power curves of each model.",
     .verbs = set_of(Verb::kGpus)},
    {.name = "node-backend", .kind = ValueKind::kText, .metavar = "TEXT", .default_text = "nvml",
     .sentence = "The GPUs: nvml for those of this machine, simulated:2xa100-40gb for none; "
                 "docs/reference/devices.md has the rest.",
     .verbs = set_of(Verb::kGpus, Verb::kLayout), .typed = "backend"},
    {.name = "live", .kind = ValueKind::kSwitch,
     .sentence = "The GPUs of --backend with their slices, and who is on them.",
     .verbs = set_of(Verb::kGpus)},
    {.name = "config-file", .kind = ValueKind::kText, .metavar = "FILE",
     .sentence = "mig-parted's file of configurations, - for standard input. Also -f, or the "
                 "variable MIG_PARTED_CONFIG_FILE.",
     .verbs = set_of(Verb::kLayout), .letter = "f"},
    {.name = "selected-config", .kind = ValueKind::kText, .metavar = "LABEL",
     .sentence = "The configuration of the file that is meant. Also -c, or the variable "
                 "MIG_PARTED_SELECTED_CONFIG.",
     .verbs = set_of(Verb::kLayout), .letter = "c"},
    {.name = "label", .kind = ValueKind::kText, .metavar = "LABEL", .default_text = "current",
     .sentence = "What export calls the configuration. Also -l.",
     .verbs = set_of(Verb::kLayout), .letter = "l"},
    {.name = "journal", .kind = ValueKind::kText, .metavar = "FILE",
     .sentence = "Where apply notes a change under way; without it, in the state folder.",
     .verbs = set_of(Verb::kLayout)},
    {.name = "rollback", .kind = ValueKind::kSwitch,
     .sentence = "With apply: go back to what was there before an interrupted change.",
     .verbs = set_of(Verb::kLayout)},
    {.name = "maximal", .kind = ValueKind::kSwitch,
     .sentence = "Only layouts to which nothing can be added.", .verbs = set_of(Verb::kLayouts)},
    {.name = "double-memory", .kind = ValueKind::kSwitch,
     .sentence = "Also use the 1g profile with twice the memory.",
     .verbs = set_of(Verb::kLayouts)},
    {.name = "media", .kind = ValueKind::kSwitch,
     .sentence = "Also use the profiles with media engines (+me).",
     .verbs = set_of(Verb::kLayouts)},

    // Settings of a run
    {.name = "scenario", .kind = ValueKind::kInput, .metavar = "NAME|FILE",
     .sentence = "Settings to begin with: a preset (`partita scenarios`) or a TOML file, which has "
                 "a slash or .toml in its name; flags override it.",
     .verbs = kMakes, .choices = preset_names},
    {.name = "jobs", .kind = ValueKind::kInput, .metavar = "FILE",
     .sentence = "Jobs to read: native CSV or a known trace dialect, also as .gz or .zst; - is "
                 "standard input.",
     .verbs = kReads, .section = "workload"},
    {.name = "gpus", .kind = ValueKind::kCount, .metavar = "N", .default_text = "1",
     .low = 1, .high = kGpusMax, .sentence = "Number of GPUs.", .verbs = kCounts,
     .section = "cluster"},
    {.name = "power", .kind = ValueKind::kText, .metavar = "CURVE",
     .sentence = "Power curve of the GPU model; the default is the first that `partita gpus` "
                 "lists.",
     .verbs = kCounts, .section = "cluster", .choices = power_names},
    {.name = "scheduler", .kind = ValueKind::kText, .metavar = "NAME", .default_text = "mdd",
     .sentence = "Scheduler, ORDER+PLACEMENT as in mdd+slowest, or learned:FILE; `partita "
                 "policies` lists them.",
     .verbs = kDays | set_of(Verb::kSimulate, Verb::kSize), .section = "policy",
     .choices = scheduler_names, .parse = parsed_by<policies::scheduler_facts>},
    {.name = "schedulers", .kind = ValueKind::kText, .metavar = "LIST", .default_text = "all",
     .sentence = "Schedulers to compare, separated by commas, or all.",
     .verbs = set_of(Verb::kCompare), .section = "policy",
     .choices = scheduler_names_or_all, .parse = parsed_by<parse_schedulers>},
    {.name = "also", .kind = ValueKind::kText, .metavar = "POLICIES",
     .sentence = "Further policies to compare, SCHEDULER/REPARTITIONER, separated by blanks: "
                 "their layouts "
                 "are not those of --repartition.",
     .verbs = set_of(Verb::kCompare)},
    {.name = "repartition", .kind = ValueKind::kText, .metavar = "REPARTITIONER",
     .default_text = "none",
     .sentence = "Layouts of the GPUs: none (whole GPUs), static:LAYOUTS, "
                 "timetable:HH:MM=LAYOUTS,... or another that `partita policies` lists; a layout "
                 "is a number, tNUMBER or a text such as 4g.20gb:0,3g.20gb:4; several with a text "
                 "among them are separated by semicolons; 2x28 is layout 2 for 28 GPUs.",
     .verbs = kRuns, .section = "policy", .choices = repartitioner_names},
    {.name = "preemption", .kind = ValueKind::kText,
     .metavar = "free|none|cost=SECONDS|pays=SECONDS", .default_text = "pays=30",
     .sentence = "What interrupting a running job costs; with pays, jobs that can be resumed are "
                 "interrupted only where that lowers tardiness by more than it costs.",
     .verbs = kBounds, .section = "policy",
     .choices = [] { return Names{"free", "none", "cost=", "pays="}; },
     .parse = parsed_by<parse_preemption>},
    {.name = "reserve-after", .kind = ValueKind::kText, .metavar = "SECONDS|off",
     .default_text = "off",
     .sentence = "A job that has waited for so long, or half of its time to spare where no slice "
                 "fits it, is kept a place; others start there only if they are expected to end "
                 "before it is free.",
     .verbs = kRuns, .section = "policy", .parse = parsed_by<parse_reserve_after>},
    {.name = "fair-share", .kind = ValueKind::kName,
     .metavar = "off|priority|slice-seconds|joules", .default_text = "off",
     .sentence = "Jobs of higher priority first, then those of users who have had the least of "
                 "the fleet, measured so; each user's jobs in the scheduler's order.",
     .verbs = kRuns, .section = "policy", .choices = fair_share_names,
     .parse = parsed_by<parse_fair_share>},
    {.name = "half-life", .kind = ValueKind::kSeconds, .metavar = "SECONDS",
     .default_text = "86400", .low = 1, .high = kSecondsMax, .unit = "s",
     .sentence = "With --fair-share, what was used so long ago counts half.",
     .verbs = kRuns | set_of(Verb::kServe), .section = "policy"},
    {.name = "shares", .kind = ValueKind::kText, .metavar = "USER=SHARE,...",
     .sentence = "With --fair-share, shares of users; those who are not named have 1.",
     .verbs = kRuns | set_of(Verb::kServe), .section = "policy", .parse = parsed_by<parse_shares>},
    {.name = "repartition-cost", .kind = ValueKind::kName, .metavar = "paper|measured",
     .default_text = "measured",
     .sentence = "What changing a layout costs: the measured times of each instance, or the "
                 "papers' 4 s off the deadlines.",
     .verbs = kRuns, .section = "policy", .choices = [] { return Names{"paper", "measured"}; },
     .parse = parsed_by<parse_repartition_cost>},
    {.name = "estimate-error", .kind = ValueKind::kNumber, .metavar = "SIGMA",
     .default_text = "0", .low = 0, .high = kEstimateErrorMax,
     .sentence = "Policies are told run times that are wrong by a factor, log-normal with this "
                 "SIGMA: 0.3 is about 30 %.",
     .verbs = kRuns, .section = "policy"},
    {.name = "memory-restart", .kind = ValueKind::kSeconds, .metavar = "SECONDS",
     .default_text = "5", .low = 0, .high = kSecondsMax, .unit = "s",
     .sentence = "What a job that outgrew the memory of its slice pays when it begins again.",
     .verbs = kRuns, .section = "policy"},
    {.name = "early-restart", .kind = ValueKind::kText, .metavar = "off|on|KEY=VALUE,...",
     .default_text = "off",
     .sentence = "Restart a job on a larger slice when the trend of its memory says that it will "
                 "not fit; the rule has readings=100, window=20, least=8, z=2.33, "
                 "confirmations=2.",
     .verbs = kRuns, .section = "policy", .parse = parsed_by<parse_early_restart>},
    {.name = "et-a", .kind = ValueKind::kNumber, .metavar = "A", .default_text = "2e-7",
     .low = 0, .high = kEtAMax, .unit = "per W·min",
     .sentence = "Weight of energy (W·min) against mean tardiness (min) in ET.",
     .verbs = kCounts, .section = "score"},
    {.name = "horizon", .kind = ValueKind::kSeconds, .metavar = "SECONDS",
     .low = 0, .high = kSecondsMax, .unit = "s",
     .sentence = "Count energy at least up to here; the default is the last completion and, for "
                 "generated jobs, the end of the arrivals.",
     .verbs = kCounts, .section = "score"},
    {.name = "seed", .kind = ValueKind::kCount, .metavar = "N", .default_text = "1",
     .low = 0, .high = kSeedMax,
     .sentence = "Seed of generated jobs and of policies that draw random numbers.",
     .verbs = kMakes | kReads, .section = "policy"},
    {.name = "threads", .kind = ValueKind::kCount, .metavar = "N", .low = 1, .high = kThreadsMax,
     .sentence = "Runs at a time; the default is one for each processor. It does not change the "
                 "results.",
     .verbs = set_of(Verb::kCompare, Verb::kAdvise, Verb::kTune, Verb::kExperiment, Verb::kTrain)},

    // Bounds
    {.name = "bound-kind", .kind = ValueKind::kName, .metavar = "energy|tardiness|et",
     .sentence = "Bound only this; the default is all three.", .verbs = set_of(Verb::kBound),
     .choices = [] { return Names{"energy", "tardiness", "et"}; },
     .parse = parsed_by<bounds::kind_named>, .typed = "kind"},
    {.name = "time-limit", .kind = ValueKind::kNumber, .metavar = "SECONDS",
     .default_text = "60", .low = 0, .high = kSecondsMax, .unit = "s",
     .sentence = "Time for all bounds together; what is proven by then is reported.",
     .verbs = set_of(Verb::kBound, Verb::kSimulate, Verb::kCompare, Verb::kAdvise)},
    {.name = "bounds", .kind = ValueKind::kSwitch,
     .sentence = "Also bound what any schedule could reach, and show the gap of every result to "
                 "that.",
     .verbs = set_of(Verb::kSimulate, Verb::kCompare, Verb::kExperiment)},
    {.name = "certificate", .kind = ValueKind::kOutput, .metavar = "FILE",
     .sentence = "Write the bounds with what proves them as JSON.",
     .verbs = set_of(Verb::kBound)},
    {.name = "verify", .kind = ValueKind::kInput, .metavar = "FILE",
     .sentence = "Check a certificate against these jobs and GPUs instead of looking for bounds; "
                 "--horizon and --et-a are those of the certificate.",
     .verbs = set_of(Verb::kBound)},

    {.name = "windows", .kind = ValueKind::kCount, .metavar = "JOBS", .low = 1,
     .high = kWindowJobsMax,
     .sentence = "How loose the bounds are: cut the jobs into windows of so many and compare the "
                 "bounds of each with its exact optimum, without preemption.",
     .verbs = set_of(Verb::kBound)},

    // Learning
    {.name = "model", .kind = ValueKind::kInput, .metavar = "FILE",
     .sentence = "The model file.", .verbs = set_of(Verb::kEvaluate, Verb::kDistill)},
    {.name = "against", .kind = ValueKind::kText, .metavar = "POLICIES",
     .sentence = "Policies to compare with, separated by | : schedulers where the model schedules, "
                 "else repartitioners; the default is that of --scheduler or --repartition.",
     .verbs = set_of(Verb::kEvaluate)},
    {.name = "steps", .kind = ValueKind::kCount, .metavar = "N", .low = 1, .high = kStepsMax,
     .sentence = "Decisions to learn from; the default is that of the system.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "evolution", .kind = ValueKind::kCount, .metavar = "N", .low = 0, .high = kStepsMax,
     .sentence = "Rounds of evolution after that; the default is that of the system.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "rates", .kind = ValueKind::kText, .metavar = "R1,R2,...",
     .sentence = "Train and validate on days of these --rate in turn, for a model that fits all.",
     .verbs = set_of(Verb::kTrain), .parse = parsed_by<parse_rates>},
    {.name = "validation-days", .kind = ValueKind::kCount, .metavar = "N", .default_text = "20",
     .low = 1, .high = kDaysMax, .sentence = "Days that say which model is kept.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "menu", .kind = ValueKind::kText, .metavar = "MIXES",
     .sentence = "Mixes of layouts to choose from, NUMBER*WEIGHT,...;...; the default is that of "
                 "the system.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "rest", .kind = ValueKind::kSeconds, .metavar = "SECONDS", .default_text = "0",
     .low = 0, .high = 1e6, .unit = "s",
     .sentence = "A GPU that has changed is left alone for this long; whole seconds.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "from", .kind = ValueKind::kText, .metavar = "MIX",
     .sentence = "A mix of layouts to begin with, for example one that tune found; when to leave "
                 "it is then learned by evolution alone.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "record", .kind = ValueKind::kInput, .metavar = "FILE",
     .sentence = "Train nothing: run the model of this file over training days and write it to "
                 "--out with the record of what it saw there.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "without", .kind = ValueKind::kText, .metavar = "PIECES",
     .sentence = "Pieces of the system to leave out, separated by commas, to see what each is "
                 "worth. mean-field+ has backlog, change-costs, early-tardiness, evolution, mixes, "
                 "one-target, reluctance; place+ has forecast, jobs, queue, rule, wait.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "energy-weight", .kind = ValueKind::kText, .metavar = "FACTORS",
     .default_text = "1",
     .sentence = "Energy counts this many times as much in training as in ET; one factor, or one "
                 "for each of --rates.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "change-cost", .kind = ValueKind::kNumber, .metavar = "MINUTES",
     .default_text = "0", .low = 0, .high = kMinutesMax, .unit = "min",
     .sentence = "Tardiness of one job that training charges for every GPU that changes, besides "
                 "what changes really cost.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "reward", .kind = ValueKind::kName, .metavar = "published|corrected",
     .default_text = "published",
     .sentence = "Reward of place-ppo: as published, or what becomes of ET with energy and "
                 "tardiness charged when they arise.",
     .verbs = set_of(Verb::kTrain), .choices = [] { return Names{"published", "corrected"}; },
     .parse = parsed_by<reward_named>},
    {.name = "hidden", .kind = ValueKind::kText, .metavar = "N,N,...",
     .sentence = "Widths of the hidden layers; the default is that of the system.",
     .verbs = set_of(Verb::kTrain), .parse = parsed_by<parse_widths>},
    {.name = "epochs", .kind = ValueKind::kCount, .metavar = "N", .low = 1, .high = 1000,
     .sentence = "How often PPO learns from what it played; the default is that of the system.",
     .verbs = set_of(Verb::kTrain)},
    {.name = "late-cost", .kind = ValueKind::kNumber, .metavar = "MINUTES",
     .default_text = "0", .low = 0, .high = kMinutesMax, .unit = "min",
     .sentence = "Tardiness that training charges for every late job besides its own (place+, and "
                 "place-ppo with its reward corrected).",
     .verbs = set_of(Verb::kTrain)},
    {.name = "log", .kind = ValueKind::kOutput, .metavar = "FILE",
     .sentence = "Write every validation as a line of JSON.", .verbs = set_of(Verb::kTrain)},
    {.name = "checkpoint", .kind = ValueKind::kText, .metavar = "FILE",
     .sentence = "Keep the state of training here, and go on from it when it is there; the "
                 "model is the same to the bit.",
     .verbs = set_of(Verb::kTrain)},

    // Generated jobs
    {.name = "kind", .kind = ValueKind::kName, .metavar = "migm|papers|poisson|realistic",
     .sentence = "Generator of jobs: batches in the manner of MIGM, the papers' day, "
                 "constant-rate Poisson arrivals, or a workload after real traces; generate takes "
                 "papers when none is given.",
     .verbs = kRuns | set_of(Verb::kGenerate, Verb::kAdvise), .section = "workload",
     .choices = [] { return Names{"migm", "papers", "poisson", "realistic"}; }},
    {.name = "hours", .kind = ValueKind::kNumber, .metavar = "HOURS", .low = 0, .high = kHoursMax,
     .unit = "h",
     .sentence = "Jobs arrive in this many hours; 24 by default, and for poisson only when given.",
     .verbs = kMakes, .section = "workload", .only_for = "papers poisson realistic"},
    {.name = "rate", .kind = ValueKind::kNumber, .metavar = "RATE", .low = 0, .high = kRateMax,
     .sentence = "For papers, what multiplies their hourly rates (20 by default); for poisson, "
                 "jobs a minute (8 by default).",
     .verbs = kMakes, .section = "workload", .only_for = "papers poisson"},
    {.name = "max-jobs", .kind = ValueKind::kCount, .metavar = "N", .low = 1, .high = kJobsMax,
     .sentence = "Stop after this many jobs; for poisson 1000 by default when no --hours are "
                 "given, for migm 50.",
     .verbs = kMakes | kReads, .section = "workload"},
    {.name = "mix", .kind = ValueKind::kName, .metavar = "general|llm|ml|small",
     .default_text = "general",
     .sentence = "Jobs of a batch: programs that use up to three compute slices, language models "
                 "whose memory grows, training, or programs that use one slice.",
     .verbs = kMakes, .section = "workload", .only_for = "migm", .choices = migm_mix_names},
    {.name = "layer-ms", .kind = ValueKind::kNumber, .metavar = "MS", .default_text = "0.64",
     .low = 0, .high = 1000, .unit = "ms",
     .sentence = "Least time of one decoder layer of a language model, whatever the slice.",
     .verbs = kMakes, .section = "workload", .only_for = "migm"},
    {.name = "deadline", .kind = ValueKind::kText, .metavar = "LOW:HIGH",
     .sentence = "Deadline is arrival + U(LOW, HIGH) x the time on the whole GPU; 1.0:1.5 by "
                 "default, for traces 1.75:5.3.",
     .verbs = kMakes | kReads, .section = "workload", .only_for = "papers poisson trace",
     .parse = parsed_by<parse_span>},
    {.name = "training-share", .kind = ValueKind::kNumber, .metavar = "SHARE",
     .default_text = "0.2", .low = 0, .high = 1,
     .sentence = "Share of training jobs; the rest is inference.",
     .verbs = kMakes, .section = "workload", .only_for = "papers poisson"},
    {.name = "bert-share", .kind = ValueKind::kNumber, .metavar = "SHARE",
     .low = 0, .high = 1,
     .sentence = "Share of BERT among training and among inference, 2/3 by default; the rest is "
                 "ResNet.",
     .verbs = kMakes, .section = "workload", .only_for = "papers poisson"},
    {.name = "inference-mean", .kind = ValueKind::kNumber, .metavar = "MINUTES",
     .default_text = "3", .low = 0, .high = kMinutesMax, .unit = "min",
     .sentence = "Mean time of inference on a 1g slice, exponential.",
     .verbs = kMakes, .section = "workload", .only_for = "papers poisson"},
    {.name = "training-time", .kind = ValueKind::kText, .metavar = "LOW:HIGH",
     .default_text = "40:60", .unit = "min",
     .sentence = "5 % and 95 % quantiles of the time of training on a 1g slice, log-normal.",
     .verbs = kMakes, .section = "workload", .only_for = "papers poisson",
     .parse = parsed_by<parse_span>},
    {.name = "memory", .kind = ValueKind::kText, .metavar = "GIB,GIB,GIB,GIB",
     .default_text = "0,0,0,0", .unit = "GiB",
     .sentence = "Memory needs of bert-inference, resnet-inference, bert-training and "
                 "resnet-training.",
     .verbs = kMakes, .section = "workload", .only_for = "papers poisson",
     .parse = parsed_by<parse_memories>},
    {.name = "hourly-rates", .kind = ValueKind::kText, .metavar = "R0,...,R23",
     .unit = "jobs a minute",
     .sentence = "Arrival rates by hour of the day before --rate multiplies them; the default is "
                 "the papers' curve.",
     .verbs = kMakes, .section = "workload", .only_for = "papers",
     .parse = parsed_by<parse_hourly>},
    {.name = "jobs-per-hour", .kind = ValueKind::kNumber, .metavar = "N", .default_text = "60",
     .low = 0, .high = kRateMax, .sentence = "Mean number of jobs an hour.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "profile", .kind = ValueKind::kText, .metavar = "NAME", .default_text = "venus",
     .sentence = "Hourly profile of the arrivals, of a real cluster or flat.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic",
     .choices = profile_names, .parse = parsed_by<workload::find_profile>},
    {.name = "burstiness", .kind = ValueKind::kNumber, .metavar = "CV", .default_text = "1.8",
     .low = 1, .high = 1000,
     .sentence = "Coefficient of variation of the gaps between arrivals; 1 is Poisson.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "median", .kind = ValueKind::kNumber, .metavar = "SECONDS", .default_text = "800",
     .low = 0, .high = kMedianMax, .unit = "s",
     .sentence = "Median time on the whole GPU, log-normal.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "sigma", .kind = ValueKind::kNumber, .metavar = "SIGMA", .default_text = "2",
     .low = 0, .high = 10, .sentence = "Sigma of the logarithm of that time.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "shortest", .kind = ValueKind::kNumber, .metavar = "SECONDS", .default_text = "1",
     .low = 0, .high = kMedianMax, .unit = "s", .sentence = "Shortest time on the whole GPU.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "longest", .kind = ValueKind::kNumber, .metavar = "SECONDS",
     .default_text = "172800", .low = 0, .high = kMedianMax, .unit = "s",
     .sentence = "Longest time on the whole GPU.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "slack-median", .kind = ValueKind::kNumber, .metavar = "FACTOR",
     .default_text = "3.15", .low = 0, .high = kSlackMax,
     .sentence = "Deadline is arrival + slack x the time on the whole GPU: median of the slack, "
                 "log-normal.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "slack-sigma", .kind = ValueKind::kNumber, .metavar = "SIGMA",
     .default_text = "0.4323", .low = 0, .high = 10,
     .sentence = "Sigma of the logarithm of the slack.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "slack-least", .kind = ValueKind::kNumber, .metavar = "FACTOR", .default_text = "1",
     .low = 0, .high = kSlackMax, .sentence = "Least slack.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "curves", .kind = ValueKind::kText, .metavar = "MIX",
     .sentence = "Speed-up curves or groups of them (papers, miso, h200) with weights, for example "
                 "miso=2,papers=1, the default of realistic; a trace has its own.",
     .verbs = kMakes | kReads, .section = "workload", .only_for = "realistic trace",
     .choices = curve_names, .parse = parsed_by<workload::CurveMix::parse>},
    {.name = "memory-scale", .kind = ValueKind::kNumber, .metavar = "FACTOR",
     .default_text = "1", .low = 0, .high = kGibMax,
     .sentence = "Multiplies the memory needs of the curves.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "memory-sigma", .kind = ValueKind::kNumber, .metavar = "SIGMA",
     .default_text = "0.5", .low = 0, .high = 10,
     .sentence = "Sigma of the logarithm of the memory needs.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "memory-unknown", .kind = ValueKind::kNumber, .metavar = "GIB",
     .default_text = "7.2", .low = 0, .high = kGibMax, .unit = "GiB",
     .sentence = "Memory need for curves whose source gives none.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},
    {.name = "memory-max", .kind = ValueKind::kNumber, .metavar = "GIB", .default_text = "39",
     .low = 0, .high = kGibMax, .unit = "GiB", .sentence = "Largest memory need.",
     .verbs = kMakes, .section = "workload", .only_for = "realistic"},

    // Jobs from a file
    {.name = "dialect", .kind = ValueKind::kName, .metavar = "NAME",
     .sentence = "Dialect of the trace; the default is what its columns say.",
     .verbs = kReads, .section = "workload", .only_for = "trace", .choices = dialect_names},
    {.name = "skip-bad-rows", .kind = ValueKind::kSwitch,
     .sentence = "Count rows that cannot be used, report them and go on with the others.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},
    {.name = "origin", .kind = ValueKind::kText, .metavar = "TIME", .default_text = "first",
     .sentence = "Zero of time: first (the earliest row), midnight (of its day) or a time as the "
                 "trace writes it.",
     .verbs = kReads, .section = "workload", .only_for = "trace",
     .choices = [] { return Names{"first", "midnight"}; }},
    {.name = "window", .kind = ValueKind::kNumber, .metavar = "HOURS", .default_text = "24",
     .low = 0.001, .high = kHoursMax, .unit = "h",
     .sentence = "Length of the days that a trace is cut into; every third is for tuning.",
     .verbs = kDays | set_of(Verb::kAdvise), .section = "workload", .only_for = "trace"},
    {.name = "sample", .kind = ValueKind::kNumber, .metavar = "SHARE", .default_text = "1",
     .low = 0, .high = 1,
     .sentence = "Share of the trace's jobs to keep, for a fleet smaller than the one it is of.",
     .verbs = kDays | set_of(Verb::kAdvise), .section = "workload", .only_for = "trace"},
    {.name = "time-scale", .kind = ValueKind::kNumber, .metavar = "FACTOR", .default_text = "1",
     .low = 0, .high = kRateMax,
     .sentence = "Multiplies the times between arrivals; 0.5 doubles the load.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},
    {.name = "duration-scale", .kind = ValueKind::kNumber, .metavar = "FACTOR",
     .default_text = "1", .low = 0, .high = kRateMax, .sentence = "Multiplies the durations.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},
    {.name = "job-memory", .kind = ValueKind::kNumber, .metavar = "GIB", .low = 0,
     .high = kGibMax, .unit = "GiB",
     .sentence = "Memory need of every job; the default is what the dialect says.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},
    {.name = "memory-from-curve", .kind = ValueKind::kSwitch,
     .sentence = "Take memory needs from the speed-up curves, whatever the dialect says.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},
    {.name = "philly-flatten", .kind = ValueKind::kSwitch,
     .sentence = "Make jobs of n GPUs n times as long on one, instead of passing them over.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},
    {.name = "openb-censored", .kind = ValueKind::kSwitch,
     .sentence = "Keep pods that still ran when the trace ended.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},
    {.name = "openb-strict", .kind = ValueKind::kSwitch,
     .sentence = "Forbid slices below the share a pod asked for, instead of being slower there.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},
    {.name = "openb-gpu-memory", .kind = ValueKind::kNumber, .metavar = "GIB",
     .default_text = "0", .low = 0, .high = kGibMax, .unit = "GiB",
     .sentence = "Memory of the whole GPU, of which a pod needs its share.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},
    {.name = "azure-prefill", .kind = ValueKind::kNumber, .metavar = "RATE",
     .default_text = "8000", .low = 0, .high = 1e12, .unit = "tokens/s",
     .sentence = "Context tokens a second on the whole GPU.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},
    {.name = "azure-decode", .kind = ValueKind::kNumber, .metavar = "RATE",
     .default_text = "40", .low = 0, .high = 1e12, .unit = "tokens/s",
     .sentence = "Generated tokens a second on the whole GPU.",
     .verbs = kReads, .section = "workload", .only_for = "trace"},

    // Files
    {.name = "out", .kind = ValueKind::kOutput, .metavar = "FILE", .default_text = "-",
     .sentence = "Where the jobs or the model go, of report the page (report.html unless given); - "
                 "is standard output.",
     .verbs = set_of(Verb::kGenerate, Verb::kConvert, Verb::kReport, Verb::kTrain,
                     Verb::kDistill)},
    {.name = "results", .kind = ValueKind::kInput, .metavar = "FILE",
     .sentence = "The runs of an experiment: NAME.runs.jsonl.", .verbs = set_of(Verb::kReport)},
    {.name = "day", .kind = ValueKind::kInput, .metavar = "FILE",
     .sentence = "The day to show in detail; NAME.day.json beside the runs unless given.",
     .verbs = set_of(Verb::kReport)},
    {.name = "training", .kind = ValueKind::kInput, .metavar = "FILE",
     .sentence = "The log of a training (train --log), whose learning curve the page shows; alone "
                 "or beside --results.",
     .verbs = set_of(Verb::kReport)},
    {.name = "title", .kind = ValueKind::kText, .metavar = "TEXT",
     .sentence = "Heading of the page.", .verbs = set_of(Verb::kReport)},
    {.name = "reference", .kind = ValueKind::kText, .metavar = "POLICY",
     .sentence = "Policy to compare the others with; the default is the experiment's.",
     .verbs = set_of(Verb::kReport)},
    {.name = "report", .kind = ValueKind::kOutput, .metavar = "FILE",
     .sentence = "Write the results as one HTML page, with one day in detail; of train, the "
                 "learning curve.",
     .verbs = set_of(Verb::kSimulate, Verb::kCompare, Verb::kAdvise, Verb::kExperiment,
                     Verb::kTrain)},
    {.name = "schedule", .kind = ValueKind::kOutput, .metavar = "FILE",
     .sentence = "Write every uninterrupted piece of every job as CSV.",
     .verbs = set_of(Verb::kSimulate)},
    {.name = "layouts", .kind = ValueKind::kOutput, .metavar = "FILE",
     .sentence = "Write what every GPU offered over time as CSV.",
     .verbs = set_of(Verb::kSimulate)},
    {.name = "job-records", .kind = ValueKind::kOutput, .metavar = "FILE",
     .sentence = "Write start, completion and tardiness of every job as CSV.",
     .verbs = set_of(Verb::kSimulate)},

    // Arguments without a flag
    {.name = "WHAT", .kind = ValueKind::kName,
     .metavar = "plan|apply|assert|export|generate-config",
     .sentence = "What to do with the layouts.", .verbs = set_of(Verb::kLayout),
     .choices = [] { return Names{"plan", "apply", "assert", "export", "generate-config"}; }},
    {.name = "SHELL", .kind = ValueKind::kName, .metavar = "bash|zsh|fish",
     .sentence = "The shell to write the completion for.", .verbs = set_of(Verb::kCompletion),
     .choices = shell_names},
    {.name = "STUDY", .kind = ValueKind::kName, .metavar = "STUDY",
     .sentence = "The experiment to run; without one, the settings and [[policies]] of --scenario "
                 "are an experiment of your own.", .verbs = set_of(Verb::kExperiment),
     .choices = study_names},
    {.name = "PLAN", .kind = ValueKind::kName, .metavar = "static|timetable",
     .sentence = "What to look for: one mix of layouts, or one for each part of the day.",
     .verbs = set_of(Verb::kTune), .choices = [] { return Names{"static", "timetable"}; }},
    {.name = "SYSTEM", .kind = ValueKind::kName, .metavar = "NAME",
     .sentence = "What to train.", .verbs = set_of(Verb::kTrain), .choices = system_names,
     .parse = parsed_by<learn::find_system>},
    {.name = "ACTION", .kind = ValueKind::kName, .metavar = "show",
     .sentence = "With show, print the TOML of the preset NAME.",
     .verbs = set_of(Verb::kScenarios), .choices = [] { return Names{"show"}; }},
    {.name = "NAME", .kind = ValueKind::kName, .metavar = "NAME",
     .sentence = "The preset to show.", .verbs = set_of(Verb::kScenarios),
     .choices = preset_names},
    {.name = "VERB", .kind = ValueKind::kName, .metavar = "VERB",
     .sentence = "The verb to explain.", .verbs = set_of(Verb::kHelp), .choices = verb_names},

    // Of every verb
    {.name = "markdown", .kind = ValueKind::kSwitch,
     .sentence = "Print the reference of all verbs as Markdown (docs/reference/cli.md).",
     .verbs = set_of(Verb::kHelp)},
    {.name = "json", .kind = ValueKind::kSwitch, .sentence = "Print JSON instead of a table.",
     .verbs = kEvery},
    {.name = "help", .kind = ValueKind::kSwitch, .sentence = "Print this help.", .verbs = kEvery},
});
// clang-format on

}  // namespace

std::span<const FlagRecord> flag_records() {
  static const std::vector<FlagRecord> kAll = [] {
    std::vector<FlagRecord> all(kFlags.begin(), kFlags.end());
    for (const auto more : {study_flag_records(), live_flag_records()}) {
      all.insert(all.begin(), more.begin(), more.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace partita::cli
