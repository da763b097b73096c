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

}  // namespace
}  // namespace partita::cli_test
