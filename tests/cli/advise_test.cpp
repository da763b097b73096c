// What `partita advise` promises, and what runs without a flag.
#include "program.h"

namespace partita::cli_test {
namespace {

using Commands = ProgramTest;

TEST_F(Commands, SimulateRunsWhatWinsOnRealWorkloadsUnlessTold) {
  out_of("generate --hours 2 --rate 2 --out jobs.csv");
  const auto json = run("simulate --jobs jobs.csv --json").json();
  EXPECT_EQ(json["scheduler"], "mdd");
  EXPECT_EQ(json["preemption"], "pays=30");
}

TEST_F(Commands, AdviseSaysWhatToUseAndWhatThatChanges) {
  out_of("generate --kind realistic --hours 240 --jobs-per-hour 3 --seed 3 --out jobs.csv");
  constexpr std::string_view kLine =
      "advise --jobs jobs.csv --gpus 2 --checkpoint-cost 30 --evaluations 20";
  const std::string out = out_of(kLine);
  for (const char* word : {"Use ", "partita serve ", "partita simulate ", "today's static by hand",
                           "What drives it", "Run times wrong", "above a bound"}) {
    EXPECT_NE(out.find(word), std::string::npos) << word << " in\n" << out;
  }
  const auto json = run(std::string(kLine) + " --json").json();
  EXPECT_EQ(json["today"].size(), 3U);
  EXPECT_GE(json["test_windows"].get<int>(), 3);
  EXPECT_TRUE(json["figures"]["et"].contains("mean"));
  // What it advises can be run as it is printed.
  const std::string simulate = json["simulate"];
  ASSERT_TRUE(simulate.starts_with("partita "));
  EXPECT_EQ(run(simulate.substr(8)).status, 0);
}

TEST_F(Commands, AdviseNamesWhatIsWrongWithToday) {
  out_of("generate --kind realistic --hours 24 --jobs-per-hour 3 --out jobs.csv");
  EXPECT_NE(complaint("advise --jobs jobs.csv --today best/none").find("--today"),
            std::string::npos);
}

// One GPU, whole for every fourth job and in pieces for the others.
std::string jobs_of_exact_sizes() {
  std::string text = "id,arrival_s,deadline_s,class,memory_gib,t1_s,t2_s,t3_s,t4_s,t7_s\n";
  for (int i = 0; i < 360; ++i) {
    text += std::to_string(i) + "," + std::to_string(i * 600) + "," +
            std::to_string(i * 600 + 2000) + (i % 4 == 0 ? ",c,0,,,,,200\n" : ",c,0,900,,,,\n");
  }
  return text;
}

TEST_F(Commands, AdviseSaysInALineWhatItLeavesOut) {
  write("exact.csv", jobs_of_exact_sizes());
  const std::string line =
      "advise --jobs exact.csv --gpus 1 --evaluations 20 --today fifo/static:2";
  const std::string out = out_of(line);
  for (const char* part : {"/ondemand", "Left out: mixes of static layouts (1 GPU cannot be cut",
                           "Left out: today's fifo/static:2 cannot run every job (job '0'",
                           "None of today's policies can run every job"}) {
    EXPECT_NE(out.find(part), std::string::npos) << part << " in\n" << out;
  }
  const auto json = run(line + " --json --report page.html").json();
  EXPECT_TRUE(json["compared_with"].is_null());
  EXPECT_TRUE(json["no_static_mix"].is_string());
  EXPECT_EQ(json["today"][0]["name"], "fifo/static:2");
  EXPECT_TRUE(json["today"][0].contains("cannot_run"));
  EXPECT_TRUE(json["wrong_estimates"][0]["et_today"].is_null());
  EXPECT_TRUE(exists("page.html"));
}

TEST_F(Commands, AdviseTakesAGeneratorAsSimulateDoes) {
  const auto json = run("advise --kind realistic --hours 24 --jobs-per-hour 3 --gpus 2 "
                        "--evaluations 20 --windows 4 --json")
                        .json();
  EXPECT_EQ(json["test_windows"], 4);
  // Four windows have no interval that holds for three comparisons at once.
  const auto& change = json["today"][0]["change_percent"]["et"];
  EXPECT_TRUE(change.contains("mean") && !change.contains("low")) << change;
  const std::string simulate = json["simulate"];
  EXPECT_NE(simulate.find("--kind realistic"), std::string::npos) << simulate;
  EXPECT_EQ(run(simulate.substr(8)).status, 0);
}

TEST_F(Commands, AdviseSaysThatItsBoundWasCutShort) {
  out_of("generate --kind realistic --hours 240 --jobs-per-hour 3 --seed 3 --out jobs.csv");
  const std::string line = "advise --jobs jobs.csv --gpus 2 --evaluations 20 --windows 3";
  EXPECT_EQ(out_of(line).find("cut short"), std::string::npos);
  const std::string out = out_of(line + " --time-limit 0");
  EXPECT_NE(out.find("cut short by --time-limit on 3 of them"), std::string::npos) << out;
}

TEST_F(Commands, AdviseSaysHowManyJobsItNeeds) {
  out_of("generate --kind realistic --hours 24 --jobs-per-hour 2 --seed 3 --out jobs.csv");
  const std::string said = complaint("advise --jobs jobs.csv");
  EXPECT_NE(said.find("advice needs 9, of which every third is tuned on: at least 180 jobs"),
            std::string::npos)
      << said;
}

// A hundred layouts are shown as a count, and recorded one by one.
TEST_F(Commands, LongMixesAreShownWithCounts) {
  out_of("generate --hours 1 --rate 2 --out jobs.csv");
  std::string ones = "static:1";
  for (int i = 1; i < 100; ++i) ones += ",1";
  const std::string line = "simulate --jobs jobs.csv --gpus 100 --repartition ";
  EXPECT_NE(out_of(line + ones).find("static:1x100,"), std::string::npos);
  const auto json = run(line + ones + " --json").json();
  EXPECT_EQ(json["repartition"], ones);
  EXPECT_EQ(run(line + "static:1x100 --json").json()["energy_j"], json["energy_j"]);
}

}  // namespace
}  // namespace partita::cli_test
