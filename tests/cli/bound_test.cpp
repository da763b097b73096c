// The commands about bounds, word for word.
#include <algorithm>

#include "base/text.h"
#include "program.h"

namespace partita::cli_test {
namespace {

using Commands = ProgramTest;

TEST_F(Commands, BoundProvesWhatNoScheduleCanBeat) {
  out_of("generate --kind poisson --max-jobs 40 --seed 2 --out jobs.csv");
  const std::string line = "bound --jobs jobs.csv --gpu a100-40gb --gpus 2 --time-limit 3";
  const auto json = run(line + " --certificate proof.json --json").json();
  std::map<std::string, double> best;
  for (const auto& bound : json["bounds"]) {
    EXPECT_FALSE(bound["name"].get<std::string>().empty());
    EXPECT_FALSE(bound["status"].get<std::string>().empty());
    EXPECT_GE(bound["wall_s"].get<double>(), 0);
    double& most = best[bound["kind"].get<std::string>()];
    if (bound["value"].is_number()) most = std::max(most, bound["value"].get<double>());
  }
  EXPECT_EQ(json["energy_bound_j"].get<double>(), best["energy"]);
  EXPECT_EQ(json["tardiness_bound_s"].get<double>(), best["tardiness"]);
  EXPECT_EQ(json["et_bound"].get<double>(), best["et"]);
  const auto run_of = run("simulate --jobs jobs.csv --gpus 2 --scheduler mdd --repartition "
                          "static:2 --bounds --json")
                          .json();
  EXPECT_LE(json["energy_bound_j"].get<double>(), run_of["energy_j"].get<double>());
  EXPECT_LE(json["tardiness_bound_s"].get<double>(), run_of["mean_tardiness_s"].get<double>());
  EXPECT_LE(json["et_bound"].get<double>(), run_of["et"].get<double>());
  EXPECT_GE(run_of["et_gap_percent"].get<double>(), 0);

  EXPECT_EQ(run(line + " --verify proof.json").status, 0);
  EXPECT_EQ(complaint("bound --jobs jobs.csv --gpus 3 --verify proof.json"),
            "--verify: the certificate is about --gpus 2, the command about 3");
  EXPECT_NE(complaint(line + " --verify proof.json --et-a 0.5").find("is about --et-a"),
            std::string::npos);
  EXPECT_NE(complaint(line + " --verify proof.json --certificate other.json").find("one of them"),
            std::string::npos);
  std::string forged = read("proof.json");
  const std::size_t at = forged.find("\"value\":") + 8;
  forged.insert(at, "9");
  write("forged.json", forged);
  EXPECT_EQ(run(line + " --verify forged.json").status, 1);
  const auto one = run(line + " --kind energy --json").json();
  EXPECT_TRUE(one["et_bound"].is_null());
  EXPECT_TRUE(one["energy_bound_j"].is_number());
}

TEST_F(Commands, BoundOfRunsWithoutPreemptionIsRefusedWhereJobsMayBeInterrupted) {
  out_of("generate --kind poisson --max-jobs 40 --seed 2 --out jobs.csv");
  const std::string line = "bound --jobs jobs.csv --gpus 1 --kind tardiness --time-limit 2";
  const auto names = [&](const std::string& more) {
    std::set<std::string> found;
    const auto json = run(line + more + " --json").json();
    for (const auto& bound : json["bounds"]) found.insert(bound["name"].get<std::string>());
    return found;
  };
  EXPECT_EQ(names(" --preemption none --certificate proof.json").count("non-preemptive"), 1U);
  EXPECT_EQ(names("").count("non-preemptive"), 0U);
  EXPECT_EQ(names(" --preemption cost=30").count("non-preemptive"), 0U);
  EXPECT_NE(read("proof.json").find("\"preemption\":\"none\""), std::string::npos);
  EXPECT_EQ(run(line + " --verify proof.json").status, 0);
  EXPECT_EQ(run(line + " --preemption none --verify proof.json").status, 0);
  EXPECT_EQ(complaint(line + " --preemption cost=30 --verify proof.json"),
            "--verify: the certificate is about --preemption none, the command about cost=30");
  std::string forged = read("proof.json");
  const std::string says = "\"preemption\":\"none\",";
  forged.erase(forged.find(says), says.size());
  write("forged.json", forged);
  const Ran refused = run(line + " --verify forged.json");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.out.find("it holds only without preemption"), std::string::npos) << refused.out;
}

TEST_F(Commands, BoundsBesideResultsKnowWhetherJobsAreInterrupted) {
  const std::string simulate =
      "simulate --kind poisson --max-jobs 8 --rate 8 --gpus 1 --scheduler mdd --bounds --json";
  const auto bound = [&](const std::string& line) {
    return run(line).json()["tardiness_bound_s"].get<double>();
  };
  EXPECT_GT(bound(simulate + " --preemption none"), 1.05 * bound(simulate));
  EXPECT_EQ(bound(simulate + " --preemption cost=1"), bound(simulate));

  const std::string experiment =
      "experiment --kind poisson --max-jobs 8 --rate 8 --gpus 1 --days 2 --bounds --json";
  write("mixed.toml",
        "[policy]\npreemption = 'none'\n"
        "[[policies]]\nname = 'a'\nscheduler = 'mdd'\nrepartition = 'none'\n"
        "[[policies]]\nname = 'b'\nscheduler = 'mdd'\nrepartition = 'none'\n"
        "preemption = 'free'\n");
  const auto bound_of_days = [&](const std::string& line) {
    return run(experiment + line).json()["settings"][0]["tardiness_bound_s"].get<double>();
  };
  const double free = bound_of_days(" --out-dir free");
  EXPECT_GT(bound_of_days(" --out-dir none --preemption none"), 1.05 * free);
  // One policy that may interrupt is enough.
  EXPECT_EQ(bound_of_days(" --out-dir mixed --scenario ./mixed.toml"), free);
}

TEST_F(Commands, BoundComparesWindowsWithTheirOptimum) {
  out_of("generate --kind poisson --rate 12 --max-jobs 20 --seed 2 --out jobs.csv");
  const std::string line = "bound --jobs jobs.csv --gpus 1 --windows 6";
  EXPECT_EQ(complaint(line),
            "--windows is about schedules that never interrupt a job; give --preemption none");
  const auto json = run(line + " --preemption none --json").json();
  ASSERT_EQ(json["windows"].size(), 3U);
  for (const auto& window : json["windows"]) {
    EXPECT_TRUE(window["optimum_proven"].get<bool>());
    EXPECT_LE(window["prices_s"].get<double>(), window["tardiness_bound_s"].get<double>());
    EXPECT_LE(window["tardiness_bound_s"].get<double>(), window["optimum_s"].get<double>() + 1e-6);
  }
  EXPECT_GT(json["late"]["tardiness_bound_s"].get<double>(), 0);
  const std::string text = out_of(line + " --preemption none");
  EXPECT_NE(text.find("windows with a known optimum above 0: prices"), std::string::npos) << text;
}

TEST_F(Commands, BoundStopsComparingWindowsWhenTheTimeIsOver) {
  out_of("generate --kind poisson --rate 12 --max-jobs 20 --seed 2 --out jobs.csv");
  const std::string line =
      "bound --jobs jobs.csv --gpus 1 --windows 6 --preemption none --time-limit 0";
  const auto json = run(line + " --json").json();
  EXPECT_EQ(json["windows"].size(), 0U);
  EXPECT_EQ(json["windows_total"], 3);
  const std::string text = out_of(line);
  EXPECT_NE(text.find("the time was over after 0 of 3 windows; a longer --time-limit has more"),
            std::string::npos)
      << text;
}

// A bound that a run is below is made by hand; the experiment finds it in its files.
}  // namespace
}  // namespace partita::cli_test
