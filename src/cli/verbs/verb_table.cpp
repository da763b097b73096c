#include <array>

#include "base/check.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

// clang-format off
constexpr std::array kVerbs = std::to_array<VerbRecord>({
    {Verb::kGpus, "gpus", run_gpus, "GPU models of the catalogue",
     "Figures that are not established for the part, but carried over from a sibling, have a "
     "star.",
     "partita gpus\n"
     "partita gpus --live --backend simulated:2xa100-40gb\n"
     "partita gpus --profiles --json"},
    {Verb::kLayouts, "layouts", run_layouts, "layouts a GPU can take",
     "Each layout is drawn over the memory slices of the GPU. A number before it is the papers' "
     "number of that configuration, which --repartition takes; those that use the 1g profile with "
     "twice the memory show with --double-memory.",
     "partita layouts --gpu a100-40gb --maximal\n"
     "partita layouts --gpu h200-141gb --double-memory --media"},
    {Verb::kLayout, "layout", run_layout,
     "repartition the GPUs of this node with the fewest changes",
     "Reads and writes mig-parted's configuration files. plan prints the fewest steps that touch "
     "no busy slice, or who is in the way; apply makes them, takes them back when one fails and "
     "finishes an interrupted change first; assert compares; export prints what is there; "
     "generate-config prints layouts worth having. Exit status 1 means that it is impossible now, "
     "that it was taken back, or that what is there differs.",
     "partita layout generate-config --backend simulated:2xa100-40gb,state=gpus.json > "
     "layouts.yaml\n"
     "partita layout plan -f layouts.yaml -c all-balanced --backend "
     "simulated:2xa100-40gb,state=gpus.json\n"
     "partita layout apply -f layouts.yaml -c all-balanced\n"
     "partita layout export --json"},
    {Verb::kGenerate, "generate", run_generate, "make a file of jobs",
     "The same seed and options give the same bytes on every machine. --json prints a summary and "
     "needs --out, since the jobs take standard output.",
     "partita generate --hours 24 --rate 20 --deadline 1.0:1.5 --seed 7 --out jobs.csv\n"
     "partita generate --kind realistic --jobs-per-hour 120 --profile philly --out jobs.csv"},
    {Verb::kConvert, "convert", run_convert, "turn a trace into native jobs",
     "The dialect is found from the columns of the trace. Rows are read and written one at a "
     "time, so the trace may be larger than memory. --json prints a summary and needs --out.",
     "partita convert --jobs philly_jobs.csv.zst --out jobs.csv"},
    {Verb::kSimulate, "simulate", run_simulate, "energy and tardiness of one policy",
     "Exit status 1 means that the jobs cannot be run on these GPUs: one fits no slice that the "
     "layouts offer.",
     "partita simulate --jobs jobs.csv --gpus 8 --scheduler cedf "
     "--repartition static:1,2,2,2,2,2,6,10 --json\n"
     "partita simulate --jobs jobs.csv --gpus 8 --scheduler edf-ss "
     "--repartition timetable:08:00=9,20:00=2\n"
     "partita simulate --scenario smart-mig --seed 3 --schedule schedule.csv "
     "--layouts layouts.csv"},
    {Verb::kCompare, "compare", run_compare, "many schedulers on the same jobs, best ET first",
     "The runs are spread over the processors; the output does not depend on how many there are.",
     "partita compare --jobs jobs.csv --gpus 8 --schedulers all "
     "--repartition static:1,1,2,3,3,5,5,10\n"
     "partita compare --scenario smart-mig --schedulers cedf,mdd,mdd+fastest\n"
     "partita compare --scenario smart-mig --schedulers cedf --also 'cedf/none cedf/static:2' "
     "--report compare.html"},
    {Verb::kSize, "size", run_size, "how many GPUs keep late jobs to a target",
     "Runs the jobs on fleets of many sizes and shows what each costs, the fewest GPUs that keep "
     "to the target and the knee of the curve. --repartition must name one layout for all GPUs. "
     "Exit status 1 means that no fleet keeps to it: --max-gpus are too few, or more change "
     "nothing.",
     "partita size --jobs jobs.csv --max-late 5% --scheduler mdd --repartition static:2\n"
     "partita size --scenario tech-report --repartition static:6 --max-late 0.1 --json"},
    {Verb::kBound, "bound", run_bound, "what no schedule can beat, with proof",
     "Lower bounds of energy, mean tardiness and ET that hold for every policy, every layout and "
     "every change of layouts, each with its name. --certificate writes what proves them; "
     "--verify checks that without any solver. Exit status 1 means that it does not hold, or that "
     "a job fits no profile of the GPU.",
     "partita bound --jobs jobs.csv --gpu a100-40gb --gpus 8 --json\n"
     "partita bound --scenario smart-mig --seed 3 --certificate proof.json\n"
     "partita bound --scenario smart-mig --seed 3 --verify proof.json"},
    {Verb::kAdvise, "advise", run_advise,
     "which policy for these jobs and GPUs, and what it would change",
     "Cuts the jobs into windows, searches mixes of layouts and chooses among many policies on "
     "every third of them, and judges the choice on the others against what is done today. Prints "
     "the commands to use, the change of ET, energy, waits and late jobs with 95 % intervals, what "
     "drives it, how it holds when run times are wrong, and the distance to the bound. Without "
     "--checkpoint-cost no job is ever interrupted.",
     "partita advise --jobs jobs.csv --gpus 8\n"
     "partita advise --jobs philly_jobs.csv.zst --sample 0.5 --duration-scale 0.25 --gpus 8 "
     "--checkpoint-cost 30 --report advice.html\n"
     "partita advise --jobs jobs.csv --gpus 16 --gpu h100-80gb --today fifo/static:2 --json"},
    {Verb::kTune, "tune", run_tune, "the best static mix or daily timetable a search finds",
     "Tunes for the scheduler and the preemption that are set, and tries only plans that have a "
     "slice for every job. The search sees tuning days only, and is repeated with a part of them "
     "left out in turn, which says what to expect of days it did not see and how sure the plan is. "
     "Then the plan is run on test days beside the layouts of --repartition, with 95 % intervals "
     "of the means and of the difference day by day. Exit status 1 means that no plan can run "
     "every job.",
     "partita tune static --scenario smart-mig --days 20\n"
     "partita tune static --jobs jobs.csv --gpus 8 --scheduler mdd --preemption none "
     "--all-windows\n"
     "partita tune timetable --scenario smart-mig --switches 4 --evaluations 3000 --json"},
    {Verb::kExperiment, "experiment", run_experiment,
     "policies on the same days, with confidence intervals",
     "Reproduces a source (STUDY), or compares policies on a workload of your own (--scenario or "
     "--jobs): a generator makes the days, a trace is cut into them. Every policy meets the same "
     "days, and none of them was tuned on. Means have 95 % intervals, those of the differences "
     "hold for all policies at once, a verdict is the side of zero on which its interval lies, and "
     "a source's own figures stand beside ours. "
     "Runs are kept in DIR/NAME.runs.jsonl as they finish: the same command goes on where it was "
     "stopped.",
     "partita experiment smart-mig --days 200\n"
     "partita experiment tech-report --quick --json\n"
     "partita experiment --scenario ./mine.toml --days 100 --until-decided\n"
     "partita experiment --jobs trace.csv --gpus 16 --scheduler mdd --repartition static:2"},
    {Verb::kReport, "report", run_report, "one HTML page of the runs of an experiment",
     "The page has everything inside and opens from disk. It is made from the result file and what "
     "stands beside it (NAME.study.json, NAME.day.json) and nothing else. `partita experiment "
     "--report FILE` writes the same page, and the day in detail with it.",
     "partita report --results smart-mig.runs.jsonl --out smart-mig.html\n"
     "partita report --results smart-mig.runs.jsonl --reference cedf/paper --title 'Our GPUs'"},
    {Verb::kTrain, "train", run_train, "train a policy on training days and write a model file",
     "The model that does best on validation days is kept. Training days, validation days and the "
     "test days of the other verbs never overlap. The same seed gives the same file on one "
     "machine.",
     "partita train mean-field+ --scenario smart-mig --out model.safetensors\n"
     "partita train place+ --scenario tech-report --out model.safetensors\n"
     "partita train mean-field --scenario smart-mig --steps 200000 --out model.safetensors "
     "--log training.jsonl"},
    {Verb::kEvaluate, "evaluate", run_evaluate, "a model beside other policies on test days",
     "Every policy meets the same days. Means and differences have 95 % intervals.",
     "partita evaluate --model models/smart-mig.safetensors --scenario smart-mig --test-days 200 "
     "--against 'static:1,2,2,2,2,2,6,10'\n"
     "partita evaluate --model models/place.safetensors --scenario tech-report --test-days 200 "
     "--against 'mdd|edf-ss|largest-first'"},
    {Verb::kDistill, "distill", run_distill,
     "a model as a table of hour and backlog that people can edit",
     "Runs the model on tuning days and writes the mix it has on average for every part of the "
     "day and backlog. `evaluate --against timetable:@FILE` says what is lost.",
     "partita distill --model models/smart-mig.safetensors --scenario smart-mig --out rule.txt"},
    {Verb::kServe, "serve", run_serve, "run jobs on MIG GPUs",
     "The daemon: takes jobs, partitions GPUs for them and runs them, with the policies of the "
     "simulator. Accepted jobs survive crashes: after kill -9 it finds them again. Stops "
     "at SIGTERM; jobs go on. docs/guides/operating.md is about it.",
     "partita serve --backend simulated:2xa100-40gb --state state --listen unix:partita.sock\n"
     "partita serve --backend nvml --policy fifo+tightest/migm-b --shadow"},
    {Verb::kToken, "token", run_token, "authentication tokens for the daemon's TCP port",
     "Callers on the unix socket are who the kernel says; those on TCP (`serve --listen "
     "tcp:127.0.0.1:PORT`) show a token. create prints one, once: what is kept is its hash, in the "
     "state folder of the daemon, so this is for whoever runs it. What is revoked is so at once, "
     "without a restart. Clients take it from PARTITA_TOKEN or --token-file.",
     "partita token create --scope submit --expires 30d --user alice > alice.token\n"
     "partita token list --json\n"
     "partita token revoke 3fa94c01"},
    {Verb::kSubmit, "submit", run_submit, "submit a job to the daemon",
     "Prints the number of the job, or one a line with --array; then the job is safe. What follows "
     "-- is run as it stands, without a shell. A batch script in its place is read now, and may be "
     "changed or removed later; lines `#PARTITA --flag value` in the comments at its top are flags "
     "of this verb, and those of the command line win. Exit status 3 means that no daemon answers.",
     "partita submit --mem auto -- ./examples/grow-memory 2G 12G\n"
     "partita submit --name train --mem 10G --deadline +2h --time 1g=20m,7g=5m -- ./train.py\n"
     "partita submit --chdir /data/run1 --output log.%j --export ALL -- ./train.py\n"
     "partita submit --mem 10G train.sh --epochs 3"},
    {Verb::kQueue, "queue", run_queue, "jobs of the daemon",
     "Those that have not ended, or with --all the ended ones too. Of others' jobs only number, "
     "owner, state and times show.",
     "partita queue\npartita queue --user ann --state running,queued\npartita queue --all --limit "
     "100 --json"},
    {Verb::kJob, "job", run_job, "the events of one job",
     "Its attempts with slices, memory and joules, and what happened to it when. Joules are an "
     "estimate: the board's energy, shared by its busy slices.",
     "partita job 12\npartita job 12 --json"},
    {Verb::kCancel, "cancel", run_cancel, "stop jobs",
     "A job that runs gets SIGTERM, and SIGKILL ten seconds later. All are stopped by one request.",
     "partita cancel 12\npartita cancel 12 14-20\npartita cancel --name train --state queued"},
    {Verb::kHold, "hold", run_hold, "keep jobs from starting",
     "A job that waits does not start until it is released; one that runs goes on, and does not "
     "start again when it is stopped. What an admin holds, an admin releases.",
     "partita hold 12\npartita hold 12,14-20 --json"},
    {Verb::kRelease, "release", run_release, "let jobs that are held start",
     "Of jobs that were held, or submitted with --hold.",
     "partita release 12\npartita release 12,14-20 --json"},
    {Verb::kRequeue, "requeue", run_requeue, "let jobs begin again",
     "A job that runs is stopped, after its checkpoint command if it has one, and waits again; one "
     "that has ended is queued again, with its number. Its next start is a new attempt.",
     "partita requeue 12\npartita requeue 12,14-20 --json"},
    {Verb::kLogs, "logs", run_logs, "what a job wrote",
     "Standard output and standard error of all its attempts, in order.",
     "partita logs 12\npartita logs -f 12"},
    {Verb::kWait, "wait", run_wait, "wait until jobs have ended",
     "Exit status 0 when all are done, 1 when one was not.",
     "partita wait 12\npartita wait 12,14-20"},
    {Verb::kTop, "top", run_top, "GPUs, slices and what is on them",
     "Beside the slices: power and its limit, temperature, and how busy the board is, where it "
     "says so (with MIG on, drivers do not). On a terminal it goes on until q or Ctrl-C, with the "
     "busiest GPUs first; what does not fit is counted, and j, k, blank, b, g, G and the arrows "
     "move through it. Otherwise, and with --once, it prints one picture of all GPUs in their "
     "order.",
     "partita top\npartita top --once --json"},
    {Verb::kShare, "share", run_share, "what users had of the fleet, and who goes first",
     "With serve --fair-share: each user's share, what they used of late (what was used a "
     "half-life ago counts half) and in all, what they hold now, and their level: 1 is just their "
     "share, and those below it go first.",
     "partita share\npartita share --json"},
    {Verb::kDrain, "drain", run_drain, "start no more jobs on a GPU",
     "For admins. Jobs that run there go on, and its slices are left as they are; a restart of the "
     "daemon changes nothing. top and queue show the reason.",
     "partita drain 0 --reason 'new fan on Monday'\npartita drain 1 --json"},
    {Verb::kResume, "resume", run_resume, "use a GPU that was drained again",
     "For admins. It takes jobs again as soon as its slices have been looked at.",
     "partita resume 0"},
    {Verb::kReplay, "replay", run_replay, "replay the daemon's decisions from its journal",
     "The store keeps what went into every turn. Each is replayed by the same code and "
     "policies, and what comes out is compared with what came out then: status 0 when all are the "
     "same, 1 when one is not. The daemon must be stopped (its jobs go on), or its folder copied.",
     "partita replay --state state\n"
     "partita replay --state state --job 12\n"
     "partita replay --state state --last 20 --json"},
    {Verb::kRun, "run", run_run, "run a program on a slice and show what it writes",
     "Submits the job, waits for it and shows its output as it comes. Ctrl-C cancels it; pressed "
     "again, it leaves the job to end by itself. The exit status is the job's, 128 and the signal "
     "where one ended it, 130 when it was cancelled; what concerns the daemon is said on standard "
     "error. Nothing is read from the terminal: the job's input is empty. With --json it prints at "
     "the end how the job ended, and its output.",
     "partita run -- ./train.py --fast\n"
     "partita run --mem 10G --export ALL -- python3 train.py"},
    {Verb::kHistory, "history", run_history, "what ended jobs used, by user, job or name",
     "Jobs that ended in a span of time, with their energy and slice-hours (hours times compute "
     "slices, of all attempts). Energy is an estimate: the board's, shared by its busy slices. Of "
     "one's own jobs; an admin sees all. It goes as far back as the daemon keeps ended jobs "
     "(`serve --jobs-kept`), and says how far that is.",
     "partita history --since 7d\n"
     "partita history --since 2026-11-01T00:00Z --until 2026-12-01T00:00Z --by name --csv\n"
     "partita history --by job --json"},
    {Verb::kQuota, "quota", run_quota, "what users and groups have of their quotas",
     "With serve --quotas: each limit of one's own user and group, and what counts against it. An "
     "admin sees those of all. Nobody is stopped by a quota: jobs wait, or are refused when there "
     "are too many of them or none could ever start.",
     "partita quota\npartita quota --user ann --json"},
    {Verb::kPolicies, "policies", run_policies, "every policy, what it does and what it needs",
     "A scheduler is an order of jobs with a placement; any other pair can be asked for as "
     "ORDER+PLACEMENT. One that was trained is learned:FILE.",
     "partita policies\n"
     "partita policies --json"},
    {Verb::kScenarios, "scenarios", run_scenarios, "the presets that ship with partita",
     "A preset is a scenario file; its text is where a file of your own begins.",
     "partita scenarios\n"
     "partita scenarios show smart-mig > mine.toml"},
    {Verb::kCompletion, "completion", run_completion, "completion script for a shell",
     "The script completes verbs, flags and the names they take.",
     "partita completion bash > ~/.local/share/bash-completion/completions/partita"},
    {Verb::kMan, "man", run_man, "the manual page, as roff",
     "",
     "partita man > partita.1 && man ./partita.1"},
    {Verb::kHelp, "help", run_help, "help on a verb",
     "Without a verb, the list of verbs.",
     "partita help simulate"},
    {Verb::kVersion, "version", run_version, "the version of partita",
     "",
     "partita version"},
});
// clang-format on

}  // namespace

std::span<const VerbRecord> verb_records() {
  return kVerbs;
}

const VerbRecord& record_of(Verb verb) {
  const VerbRecord& record = kVerbs.at(static_cast<std::size_t>(verb));
  CHECK(record.verb == verb);
  return record;
}

}  // namespace partita::cli
