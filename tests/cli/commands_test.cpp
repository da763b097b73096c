// The commands that users were promised, word for word.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "program.h"

namespace partita::cli_test {
namespace {

using Commands = ProgramTest;

constexpr std::string_view kSimulateDay =
    "simulate --jobs jobs.csv --gpu a100-40gb --gpus 8 --scheduler cedf "
    "--repartition static:1,2,2,2,2,2,6,10 --preemption free --et-a 2e-7 "
    "--schedule schedule.csv --layouts layouts.csv --json";

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(Commands, GpusListsTheCatalogue) {
  const std::string out = out_of("gpus");
  for (const char* gpu :
       {"a30-24gb", "a100-40gb", "a100-80gb", "h100-80gb", "h200-141gb", "b200-180gb"}) {
    EXPECT_NE(out.find(gpu), std::string::npos) << gpu;
  }
  const auto json = run("gpus --json").json();
  EXPECT_EQ(json.size(), 6U);
  EXPECT_EQ(json[1]["profiles"].size(), 7U);
  EXPECT_EQ(json[1]["power_curves"][0]["watts"].size(), 8U);
  EXPECT_NE(out_of("gpus --profiles").find("7g.40gb"), std::string::npos);
}

TEST_F(Commands, LayoutsCountsAndNumbersThem) {
  EXPECT_NE(out_of("layouts --gpu a100-40gb").find("legal layouts"), std::string::npos);
  const std::string maximal = out_of("layouts --gpu a100-40gb --maximal");
  EXPECT_NE(maximal.find("a100-40gb: 19 maximal layouts"), std::string::npos);
  EXPECT_NE(maximal.find("|4g.20gb        |3g.20gb        |"), std::string::npos);
  const auto json = run("layouts --gpu a30 --maximal --json").json();
  EXPECT_EQ(json["count"], 5);
  EXPECT_EQ(json["layouts"].size(), 5U);
  const auto numbered = run("layouts --maximal --double-memory --json").json();
  int numbers = 0;
  for (const auto& layout : numbered["layouts"]) numbers += layout["number"].is_null() ? 0 : 1;
  EXPECT_EQ(numbers, 12);
}

TEST_F(Commands, GenerateMakesADay) {
  EXPECT_EQ(out_of(kGenerateDay), "");
  const std::string jobs = read("jobs.csv");
  EXPECT_TRUE(jobs.starts_with("id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,"));
  EXPECT_GT(lines_of(jobs), 3'500U);
  EXPECT_LT(lines_of(jobs), 4'800U);
  EXPECT_EQ(out_of("generate --hours 24 --rate 20 --deadline 1.0:1.5 --seed 7"), jobs);
  EXPECT_EQ(out_of("generate --hours 24 --rate 20 --deadline 1.0:1.5 --seed 7 --out -"), jobs);
  EXPECT_EQ(run("generate --hours 1 --out x.csv --json").json()["out"], "x.csv");
}

TEST_F(Commands, GenerateHasThreeKinds) {
  EXPECT_EQ(lines_of(out_of("generate --kind poisson")), 1'001U);
  EXPECT_EQ(lines_of(out_of("generate --kind poisson --max-jobs 20")), 21U);
  EXPECT_EQ(lines_of(out_of("generate --kind papers --max-jobs 20")), 21U);
  EXPECT_GT(lines_of(out_of("generate --kind realistic --hours 24")), 500U);
  EXPECT_EQ(lines_of(out_of("generate --hours 0")), 1U);
}

TEST_F(Commands, SimulateAnswersInJsonWithItsFiles) {
  out_of(kGenerateDay);
  const auto json = run(kSimulateDay).json();
  for (const char* key : {"energy_j",
                          "energy_w_min",
                          "energy_kwh",
                          "mean_tardiness_s",
                          "p50_tardiness_s",
                          "p95_tardiness_s",
                          "p99_tardiness_s",
                          "max_tardiness_s",
                          "late_share",
                          "et",
                          "et_a",
                          "et_energy_part",
                          "et_tardiness_part",
                          "mean_wait_s",
                          "compute_utilisation",
                          "memory_utilisation",
                          "fragmentation",
                          "jobs",
                          "gpus",
                          "events",
                          "decisions",
                          "preemptions",
                          "repartitions",
                          "instances_created",
                          "instances_destroyed",
                          "wall_s",
                          "end_s"}) {
    ASSERT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(json[key].is_number()) << key;
  }
  EXPECT_EQ(json["gpu"], "a100-40gb");
  EXPECT_EQ(json["power"], "smart-mig");
  EXPECT_EQ(json["scheduler"], "cedf");
  EXPECT_EQ(json["repartition"], "static:1,2,2,2,2,2,6,10");
  EXPECT_EQ(json["preemption"], "free");
  EXPECT_EQ(json["repartition_cost"], "measured");
  EXPECT_EQ(json["seed"], 1);
  EXPECT_EQ(json["gpus"], 8);
  EXPECT_EQ(json["jobs"].get<std::size_t>(), lines_of(read("jobs.csv")) - 1);
  EXPECT_NEAR(json["energy_w_min"].get<double>(), 2.42e6, 0.1e6);
  EXPECT_DOUBLE_EQ(json["et"].get<double>(),
                   json["et_energy_part"].get<double>() + json["et_tardiness_part"].get<double>());
  EXPECT_TRUE(read("schedule.csv").starts_with("job,gpu,start_slot,profile,begin_s,end_s\n"));
  EXPECT_TRUE(read("layouts.csv").starts_with("gpu,begin_s,end_s,layout\n0,0,"));
  EXPECT_EQ(lines_of(read("layouts.csv")), 9U);
}

TEST_F(Commands, SimulateTakesATimetable) {
  out_of("generate --hours 24 --rate 2 --seed 7 --out jobs.csv");
  const auto json = run("simulate --jobs jobs.csv --scheduler edf-ss "
                        "--repartition timetable:08:00=9,20:00=2 --json")
                        .json();
  EXPECT_GE(json["repartitions"].get<int>(), 2);
  EXPECT_GT(json["instances_created"].get<int>(), 0);
}

TEST_F(Commands, SimulateTellsPeopleWithUnits) {
  out_of("generate --hours 2 --rate 2 --out jobs.csv");
  const std::string out = out_of("simulate --jobs jobs.csv");
  for (const char* word : {"kWh", "W·min", "min", " s)", "energy +", "tardiness  (a = 2e-07)"}) {
    EXPECT_NE(out.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
}

TEST_F(Commands, CompareRanksEverySchedulerBestFirst) {
  out_of(kGenerateDay);
  constexpr std::string_view kLine =
      "compare --jobs jobs.csv --gpus 8 --schedulers all --repartition static:1,1,2,3,3,5,5,10";
  const std::string out = out_of(kLine);
  EXPECT_EQ(lines_of(out), 20U);
  const auto json = run(std::string(kLine) + " --json").json();
  ASSERT_EQ(json.size(), 17U);
  EXPECT_EQ(json[0]["et_percent"], 0.0);
  for (std::size_t i = 1; i < json.size(); ++i) {
    EXPECT_GE(json[i]["et"].get<double>(), json[i - 1]["et"].get<double>());
  }
}

TEST_F(Commands, PreemptionThatPaysInterruptsOnlyJobsThatCanBeResumed) {
  out_of("generate --hours 12 --rate 6 --seed 2 --out jobs.csv");
  std::string text = read("jobs.csv");
  std::string firm;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    firm += text.substr(begin, end - begin) + (begin == 0 ? ",resumable\n" : ",0\n");
    begin = end + 1;
  }
  write("firm.csv", firm);
  const auto with = [&](const char* jobs, const char* preemption) {
    return run(std::string(
                   "simulate --gpus 2 --scheduler mdd --repartition static:3,9 --json --jobs ") +
               jobs + " --preemption " + preemption)
        .json();
  };
  const auto none = with("jobs.csv", "none");
  const auto pays = with("jobs.csv", "pays=10");
  const auto nobody = with("firm.csv", "pays=10");
  EXPECT_EQ(pays["preemption"], "pays=10");
  EXPECT_GT(pays["preemptions"].get<int>(), 0);
  EXPECT_LT(pays["mean_tardiness_s"].get<double>(), none["mean_tardiness_s"].get<double>());
  EXPECT_EQ(nobody["preemptions"], 0);
  EXPECT_EQ(nobody["mean_tardiness_s"], none["mean_tardiness_s"]);
  EXPECT_EQ(nobody["energy_j"], none["energy_j"]);
}

TEST_F(Commands, PoliciesTellsWhatEachNeeds) {
  const std::string out = out_of("policies");
  for (const char* name : {"edf-ss", "edf-fs", "llf", "lalf", "mp-edf", "met", "cedf", "random",
                           "largest-first", "smallest-first", "eft", "first-fit", "fifo", "sjf",
                           "mdd", "mdd-fastest", "atc", "timetable"}) {
    EXPECT_NE(out.find("\n" + std::string(name) + " "), std::string::npos) << name;
  }
  const auto json = run("policies --json").json();
  EXPECT_EQ(json["schedulers"].size(), 17U);
  EXPECT_TRUE(json["schedulers"][0].contains("needs"));
}

TEST_F(Commands, EveryPresetRuns) {
  for (const auto& preset : run("scenarios --json").json()) {
    const std::string name = preset["name"];
    const Ran ran = run("simulate --scenario " + name + " --json");
    ASSERT_EQ(ran.status, 0) << name << "\n" << ran.err;
    EXPECT_GT(ran.json()["jobs"].get<int>(), 40) << name;
    EXPECT_EQ(ran.err, "");
  }
}

TEST_F(Commands, AScenarioFileIsOverriddenByFlags) {
  write("mine.toml", out_of("scenarios show smart-mig"));
  const std::string preset = out_of("simulate --scenario smart-mig --horizon 200000 --json");
  const auto json = nlohmann::json::parse(preset);
  EXPECT_EQ(json["end_s"], 200'000.0);
  EXPECT_EQ(json["gpus"], 8);
  const auto changed = run("simulate --scenario ./mine.toml --rate 4 --json").json();
  EXPECT_LT(changed["jobs"].get<int>(), 1'200);
  EXPECT_GE(changed["end_s"].get<double>(), 86'400.0);
}

TEST_F(Commands, ConvertMakesNativeJobsOfATrace) {
  write("trace.csv",
        "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,60,1,60,a\n"
        "2017-10-09 07:02:55,90,1,90,a\n");
  const Ran ran = run("convert --jobs trace.csv --out jobs.csv --json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.json()["jobs"], 2);
  EXPECT_EQ(ran.json()["last_arrival_s"], 60.0);
  EXPECT_EQ(out_of("convert --jobs trace.csv --dialect philly"), read("jobs.csv"));
  EXPECT_EQ(out_of("convert --jobs jobs.csv"), read("jobs.csv"));
  EXPECT_EQ(run("simulate --jobs trace.csv --json").json()["jobs"], 2);
}

TEST_F(Commands, VersionCompletionAndManAnswer) {
  EXPECT_TRUE(out_of("version").starts_with("partita "));
  EXPECT_EQ(out_of("--version"), out_of("version"));
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_GT(out_of(std::string("completion ") + shell).size(), 1'000U);
  }
  EXPECT_TRUE(out_of("man").starts_with(".TH PARTITA 1"));
  const auto verbs = run("help --json").json();
  const std::string reference = out_of("help --markdown");
  for (const auto& verb : verbs) {
    const std::string name = verb["verb"];
    EXPECT_NE(reference.find("](#" + name + ")"), std::string::npos) << name;
  }
  EXPECT_GT(verbs.size(), 30U);
  EXPECT_EQ(out_of(""), out_of("--help"));
  EXPECT_EQ(out_of("help simulate"), out_of("simulate --help"));
}

TEST_F(Commands, TuneFindsAMixAndJudgesItOnOtherDays) {
  const std::string tune =
      "tune static --scenario smart-mig --gpus 2 --repartition none --rate 4 --days 2 --test-days "
      "3 "
      "--evaluations 20 --json";
  const auto json = run(tune).json();
  EXPECT_TRUE(json["repartition"].get<std::string>().starts_with("static:"));
  EXPECT_EQ(json["test_days"], 3);
  EXPECT_LE(json["tuning_et"].get<double>(), json["start_et"].get<double>());
  EXPECT_EQ(json["cross_validation"]["folds"].size(), 2U);  // as many as tuning days
  EXPECT_EQ(json["against"].back()["repartition"], "none");
  EXPECT_LE(json["tuned"]["et"]["low"], json["tuned"]["et"]["mean"]);
  EXPECT_EQ(json["reference"]["repartition"], "none");
  EXPECT_EQ(run(tune + " --threads 3").out, run(tune + " --threads 1").out);
  const std::string timetable = out_of(
      "tune timetable --scenario smart-mig --gpus 1 --repartition none --rate 2 --days 2 "
      "--test-days 2 --evaluations 15 --switches 3");
  EXPECT_NE(timetable.find("--repartition timetable:"), std::string::npos);
}

TEST_F(Commands, TuneTakesJobsOfExactSizesAndSaysHowSureItIs) {
  std::string jobs = "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s\n";
  for (int i = 0; i < 240; ++i) {
    const char* const times = i % 12 == 0 ? ",,,,200" : i % 4 == 0 ? ",,150,," : "90,,,,";
    jobs += std::to_string(i) + "," + std::to_string(30 * i) + "," + std::to_string(30 * i + 300) +
            ",x,0," + times + "\n";
  }
  write("jobs.csv", jobs);
  const std::string tune =
      "tune static --jobs jobs.csv --window 0.25 --scheduler mdd "
      "--preemption none --evaluations 40 --gpus ";
  const Ran text = run(tune + "3 --all-windows");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(text.out.starts_with("--repartition static:"));
  EXPECT_NE(text.out.find("whole GPUs cannot run every job: job '"), std::string::npos);
  EXPECT_NE(text.out.find(" of 5 folds chose this very plan"), std::string::npos);
  EXPECT_EQ(run(tune + "3 --all-windows --threads 3").out, text.out);
  const auto json = run(tune + "3 --json").json();  // also where --repartition cannot run the days
  EXPECT_EQ(json["test_days"], 6);
  EXPECT_FALSE(json.contains("reference"));
  EXPECT_TRUE(json["against"].back().contains("cannot_run"));
  const std::string found = json["repartition"].get<std::string>();
  EXPECT_EQ(run("simulate --jobs jobs.csv --gpus 3 --repartition " + found).status, 0);
  const Ran too_few = run(tune + "1");
  EXPECT_EQ(too_few.status, 1);
  EXPECT_NE(too_few.err.find("1 GPU cannot be cut so that every job fits a slice: job '60' needs "
                             "0 GiB and a slice of size 7g"),
            std::string::npos)
      << too_few.err;
  EXPECT_NE(complaint("tune static --scenario smart-mig --all-windows").find("goes with --jobs"),
            std::string::npos);
}

TEST_F(Commands, TheModelsThatShipRunOnFleetsOfAnySize) {
  const std::string model = std::string(PARTITA_SOURCE_DIR) + "/models/smart-mig.safetensors";
  for (const char* fleet : {" --gpus 8 --rate 12", " --gpus 30 --rate 40"}) {
    const Ran ran = run("simulate --scenario smart-mig --hours 2 --repartition learned:" + model +
                        fleet + " --json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_GT(ran.json()["repartitions"].get<int>(), 0) << fleet;
  }
}

TEST_F(Commands, TrainWritesAModelThatSimulateAndEvaluateTake) {
  const std::string day = " --scenario smart-mig --gpus 2 --rate 4 --repartition ";
  const auto json = run("train mean-field+" + day +
                        "static:2 "
                        "--steps 3000 --evolution 2 --validation-days 2 --out m.safetensors --log "
                        "log.jsonl --json")
                        .json();
  EXPECT_EQ(json["system"], "mean-field+");
  const std::string log = read("log.jsonl");
  EXPECT_GT(lines_of(log), 2U);
  for (const std::string_view line : split(trim(log), '\n')) {
    const auto entry = nlohmann::json::parse(line);
    EXPECT_GE(entry["validation_et"].get<double>(), entry["best_et"].get<double>());
    EXPECT_GT(entry["validation_energy_w_min"].get<double>(), 1e5);
  }
  EXPECT_EQ(run("simulate" + day + "learned:m.safetensors").status, 0);
  const auto judged =
      run("evaluate --model m.safetensors --test-days 2 --json" + day + "static:2").json();
  EXPECT_EQ(judged["encoding"], "mean-field+/1");
  EXPECT_EQ(judged["against"][0]["repartition"], "static:2");
  const auto chosen =
      run("evaluate --on validation --model m.safetensors --test-days 2 --json" + day + "static:2")
          .json();
  EXPECT_EQ(chosen["on"], "validation");
  EXPECT_NE(chosen["model"]["et"], judged["model"]["et"]);
  EXPECT_NE(run("train mean-field+" + day + "static:2 --rates 4,6 --energy-weight 1,2,3 --out x")
                .err.find("'1,2,3' has 3 weights; wanted one, or one for each of the 2 of --rates"),
            std::string::npos);
  EXPECT_EQ(run("simulate" + day + "learned:m.safetensors --gpu a30-24gb").status, 2);
  EXPECT_EQ(run("distill --model m.safetensors --days 3 --out rule.txt" + day + "static:2").status,
            0);
  EXPECT_EQ(run("simulate" + day + "timetable:@rule.txt").status, 0);
  write("bad.safetensors", read("m.safetensors").substr(0, 900));
  const Ran bad = run("simulate" + day + "learned:bad.safetensors");
  EXPECT_EQ(bad.status, 2);
  EXPECT_NE(bad.err.find("'bad.safetensors': this is no safetensors file"), std::string::npos);
}

TEST_F(Commands, ALearnedSchedulerIsTrainedRunAndJudgedOnAnyFleet) {
  const std::string day = " --scenario tech-report --gpus 2 --rate 5 --repartition static:2 ";
  const std::string train = "train place+" + day + "--evolution 2 --validation-days 2 --json ";
  const auto json = run(train + "--out p.safetensors --log log.jsonl --threads 2").json();
  EXPECT_EQ(json["system"], "place+");
  EXPECT_EQ(lines_of(read("log.jsonl")), 2U);
  ASSERT_EQ(run(train + "--out q.safetensors --threads 1").status, 0);
  const std::string weights = read("p.safetensors");
  const std::string again = read("q.safetensors");
  EXPECT_EQ(weights.substr(weights.rfind('}')), again.substr(again.rfind('}')));
  for (const char* fleet : {"", "--gpu h100-80gb --power scaled-h200", "--preemption free"}) {
    const Ran ran = run("simulate" + day + "--scheduler learned:p.safetensors " + fleet);
    EXPECT_EQ(ran.status, 0) << ran.err;
  }
  const auto judged =
      run("evaluate --model p.safetensors --test-days 2 --json --against mdd|atc" + day).json();
  EXPECT_EQ(judged["encoding"], "place+/1");
  EXPECT_EQ(judged["against"][1]["scheduler"], "atc");
  EXPECT_TRUE(judged["against"][0].contains("model_late_percent"));
  const std::string both = out_of("compare" + day +
                                  "--schedulers mdd,learned:p.safetensors --also "
                                  "learned:./p.safetensors/static:3");
  EXPECT_NE(both.find("learned:./p.safetensors/static"), std::string::npos);
  const Ran wrong = run(train + "--without sleep --out r.safetensors");
  EXPECT_NE(wrong.err.find("unknown piece of place+ 'sleep'"), std::string::npos);
}

TEST_F(Commands, ExperimentPutsPublishedFiguresBesideOursAndGoesOnWhereItWas) {
  const std::string first = out_of("experiment tech-report --days 3");
  EXPECT_NE(first.find("reference"), std::string::npos);
  EXPECT_NE(first.find("published figures"), std::string::npos);
  const std::string runs = read("tech-report.runs.jsonl");
  EXPECT_EQ(lines_of(runs), 42U);
  // A run cut short by a crash: the last line is half there, and the one before is gone.
  write("tech-report.runs.jsonl", runs.substr(0, runs.size() - 700));
  EXPECT_EQ(out_of("experiment tech-report --days 3 --threads 3"), first);
  EXPECT_EQ(read("tech-report.runs.jsonl"), runs);
  const auto json = run("experiment tech-report --days 3 --json").json();
  EXPECT_EQ(json["settings"].size(), 2U);
  EXPECT_EQ(json["published"].size(), 15U);
  EXPECT_EQ(run("experiment nothing").status, 2);
}

constexpr std::string_view kOwnScenario =
    "[cluster]\ngpus = 2\n[workload]\nkind = 'papers'\nhours = 3\nrate = 4\n"
    "[policy]\nscheduler = 'cedf'\nrepartition = 'static:2'\npreemption = 'free'\n"
    "[[policies]]\nname = 'halves'\n"
    "[[policies]]\nname = 'whole'\nrepartition = 'none'\n"
    "[[policies]]\nname = 'made to order'\nscheduler = 'fifo+requested'\n"
    "repartition = 'ondemand'\npreemption = 'none'\n";

TEST_F(Commands, ExperimentOfOnesOwnComparesThePoliciesOfTheScenario) {
  write("mine.toml", kOwnScenario);
  const auto json = run("experiment --scenario ./mine.toml --days 4 --json").json();
  ASSERT_EQ(json["settings"].size(), 1U);
  const auto& setting = json["settings"][0];
  EXPECT_EQ(setting["reference"], "halves");
  EXPECT_EQ(setting["days"], 4);
  EXPECT_EQ(setting["policies"].size(), 3U);
  EXPECT_EQ(lines_of(read("mine.runs.jsonl")), 12U);
  const std::string text = out_of("experiment --scenario ./mine.toml --days 4");
  EXPECT_NE(text.find("Lowest ET: "), std::string::npos);
  // Without [[policies]], what is set and what one would use instead.
  const auto usual = run("experiment --kind papers --hours 2 --rate 4 --days 2 --json").json();
  EXPECT_EQ(usual["settings"][0]["reference"], "as set");
  EXPECT_GE(usual["settings"][0]["policies"].size(), 4U);
}

TEST_F(Commands, ExperimentUntilDecidedAddsDaysUntilItIs) {
  write("mine.toml", kOwnScenario);
  const std::string line = "experiment --scenario ./mine.toml --days 5 --until-decided --json";
  const auto json = run(line).json();
  const auto days = json["days"].get<std::uint64_t>();
  EXPECT_GE(days, 30U);
  EXPECT_LE(days, 2000U);
  for (const auto& policy : json["settings"][0]["policies"]) {
    if (policy["differences"].is_null() || days == 2000) continue;
    EXPECT_NE(policy["differences"]["et"]["verdict"], "undecided");
    EXPECT_LE(policy["differences"]["et"]["p_anytime_holm"], 0.05);
  }
  const std::string runs = read("mine.runs.jsonl");
  EXPECT_EQ(lines_of(runs), 3 * days);
  write("mine.runs.jsonl", runs.substr(0, runs.size() / 2));
  EXPECT_EQ(run(line).json(), json);
  EXPECT_EQ(read("mine.runs.jsonl"), runs);
}

TEST_F(Commands, ExperimentOnATraceCutsItIntoDaysAndKeepsSomeForTuning) {
  out_of("generate --hours 12 --rate 4 --seed 3 --out jobs.csv");
  const auto json =
      run("experiment --jobs jobs.csv --window 2 --gpus 2 --repartition static:2 --json").json();
  EXPECT_EQ(json["settings"][0]["days"], 4);  // of six
  const auto tuned = run("tune static --jobs jobs.csv --window 2 --gpus 2 --evaluations 5 --json");
  EXPECT_EQ(tuned.json()["tuning_days"], 2);
  EXPECT_EQ(tuned.json()["test_days"], 4);
  EXPECT_NE(complaint("tune static --jobs jobs.csv --window 12").find("none is left to tune on"),
            std::string::npos);
  EXPECT_NE(
      complaint("experiment --jobs jobs.csv --window 0.001").find("no window of 0.001 hours with"),
      std::string::npos);
}

TEST_F(Commands, ExperimentSaysWhatItCannotDo) {
  EXPECT_NE(complaint("experiment").find("experiment needs a study (ccgrid25, "),
            std::string::npos);
  EXPECT_NE(complaint("experiment smart-mig --gpus 4").find("does not go with the study smart-mig"),
            std::string::npos);
  EXPECT_NE(complaint("experiment sensitivity --traces .").find("philly_jobs.csv"),
            std::string::npos);
  EXPECT_EQ(complaint("experiment smart-mig --traces ."),
            "--traces goes with the studies real-workloads, reservations and sensitivity");
  EXPECT_TRUE(files().empty());
}

TEST_F(Commands, SizeFindsTheFewestGpusThatKeepToTheTarget) {
  out_of("generate --hours 2 --rate 20 --deadline 2.0:4.0 --seed 7 --out jobs.csv");
  const std::string size =
      "size --jobs jobs.csv --scheduler mdd --repartition static:2 --max-late ";
  const auto json = run(size + "20% --json").json();
  const int gpus = json["gpus"].get<int>();
  for (const auto& fleet : json["curve"]) {
    const double late = fleet["late_share"].get<double>();
    if (fleet["gpus"] == gpus) {
      EXPECT_LE(late, 0.2);
    } else if (fleet["gpus"] == gpus - 1) {
      EXPECT_GT(late, 0.2);
    }
  }
  EXPECT_EQ(run(size + "0 --max-gpus 2").status, 1);
  EXPECT_EQ(run(size + "2").status, 2);
}

TEST_F(Commands, WhatIsReadIsNeverOverwritten) {
  out_of("generate --hours 1 --rate 2 --out jobs.csv");
  const std::string jobs = read("jobs.csv");
  EXPECT_EQ(run("simulate --jobs jobs.csv --schedule jobs.csv").status, 2);
  EXPECT_EQ(run("simulate --jobs jobs.csv --layouts ./jobs.csv").status, 2);
  EXPECT_EQ(read("jobs.csv"), jobs);
}

TEST_F(Commands, AnExperimentWithARunBelowItsBoundFails) {
  const std::string line =
      "experiment --kind poisson --max-jobs 8 --rate 8 --gpus 1 --days 2 --bounds --out-dir .";
  const auto json = run(line + " --json").json();
  for (const auto& gap : json["settings"][0]["gaps"]) {
    EXPECT_GE(gap["et_gap_percent"].get<double>(), 0);
    EXPECT_GE(gap["energy_gap_low_percent"].get<double>(), 0);
  }
  std::string bounds = read("own.bounds.runs.jsonl");
  const std::string key = "\"energy_j\":";
  bounds.insert(bounds.find(key) + key.size(), "9");
  write("own.bounds.runs.jsonl", bounds);
  const Ran below = run(line);
  EXPECT_EQ(below.status, 2);
  EXPECT_NE(below.err.find("and its lower bound is 9"), std::string::npos) << below.err;
}

TEST_F(Commands, CompareShowsTheGapToTheBound) {
  out_of("generate --kind poisson --max-jobs 40 --seed 2 --out jobs.csv");
  const std::string line =
      "compare --jobs jobs.csv --gpus 2 --repartition static:2 --schedulers mdd,fifo --bounds";
  EXPECT_NE(out_of(line).find("ET over bound"), std::string::npos);
  for (const auto& row : run(line + " --json").json()) {
    EXPECT_GE(row["et_gap_percent"].get<double>(), 0);
    EXPECT_GE(row["energy_gap_percent"].get<double>(), 0);
  }
}

}  // namespace
}  // namespace partita::cli_test
