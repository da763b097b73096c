// Same seed, same bytes; and the same jobs whatever way they come in.
#include "program.h"

namespace partita::cli_test {
namespace {

class Repeat : public ProgramTest {
 protected:
  static std::string without_wall(const Ran& ran) {
    auto json = ran.json();
    if (json.is_array()) {
      for (auto& one : json) one.erase("wall_s");
    } else {
      json.erase("wall_s");
    }
    return json.dump();
  }
};

TEST_F(Repeat, SameSeedSameFilesAndAnotherSeedOthers) {
  for (const char* kind : {"papers", "poisson", "realistic"}) {
    const std::string line = std::string("generate --kind ") + kind + " --hours 6 --seed ";
    const std::string jobs = out_of(line + "7");
    EXPECT_EQ(out_of(line + "7"), jobs);
    EXPECT_NE(out_of(line + "8"), jobs);
  }
}

TEST_F(Repeat, SameRunSameBytes) {
  out_of("generate --hours 6 --rate 8 --out jobs.csv");
  const std::string line =
      "simulate --jobs jobs.csv --gpus 2 --scheduler random --repartition timetable:02:00=9,04:00=2"
      " --preemption cost=10 --json --schedule s1.csv --layouts l1.csv --job-records r1.csv";
  std::string again = line;
  for (const char* name : {"s1", "l1", "r1"}) again.replace(again.find(name) + 1, 1, "2");
  const Ran first = run(line);
  const Ran second = run(again);
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(without_wall(first), without_wall(second));
  EXPECT_EQ(read("s1.csv"), read("s2.csv"));
  EXPECT_EQ(read("l1.csv"), read("l2.csv"));
  EXPECT_EQ(read("r1.csv"), read("r2.csv"));
  EXPECT_NE(without_wall(first), without_wall(run(line + " --seed 9")));
}

TEST_F(Repeat, TheNumberOfThreadsChangesNothing) {
  out_of("generate --hours 6 --rate 8 --out jobs.csv");
  const std::string line = "compare --jobs jobs.csv --gpus 2 --repartition static:2,9 --threads ";
  EXPECT_EQ(out_of(line + "1"), out_of(line + "7"));
  EXPECT_EQ(without_wall(run(line + "1 --json")), without_wall(run(line + "7 --json")));
}

TEST_F(Repeat, CompareAgreesWithSimulate) {
  out_of("generate --hours 6 --rate 8 --out jobs.csv");
  const auto compared = run("compare --jobs jobs.csv --gpus 2 --schedulers cedf --json").json()[0];
  const auto simulated = run("simulate --jobs jobs.csv --gpus 2 --scheduler cedf --json").json();
  for (const auto& [key, value] : simulated.items()) {
    if (key == "wall_s") continue;
    EXPECT_EQ(compared[key], value) << key;
  }
}

TEST_F(Repeat, CarriageReturnsAndByteOrderMarksDoNotMatter) {
  const std::string jobs = out_of("generate --hours 2 --rate 8");
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : jobs) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  write("jobs.csv", jobs);
  write("windows.csv", windows);
  const std::string plain = without_wall(run("simulate --jobs jobs.csv --json"));
  EXPECT_EQ(without_wall(run("simulate --jobs windows.csv --json")), plain);
  EXPECT_EQ(without_wall(run("simulate --jobs - --json", jobs)), plain);
}

TEST_F(Repeat, AGeneratedRunIsThatOfItsFileWithTheArrivalWindow) {
  out_of("generate --hours 6 --rate 8 --seed 3 --out jobs.csv");
  const auto made = run("simulate --kind papers --hours 6 --rate 8 --seed 3 --json").json();
  const auto read = run("simulate --jobs jobs.csv --seed 3 --horizon 21600 --json").json();
  for (const char* key : {"energy_j", "mean_tardiness_s", "jobs", "end_s", "events"}) {
    EXPECT_EQ(made[key], read[key]) << key;
  }
}

TEST_F(Repeat, AFileWithoutJobsIsAnEmptyRun) {
  out_of("generate --hours 0 --out none.csv");
  const auto json = run("simulate --jobs none.csv --gpus 2 --horizon 60 --json").json();
  EXPECT_EQ(json["jobs"], 0);
  EXPECT_EQ(json["energy_j"], 2 * 60 * 40.0);
  EXPECT_EQ(run("compare --jobs none.csv").status, 0);
}

}  // namespace
}  // namespace partita::cli_test
