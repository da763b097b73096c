// Runs every tests/scenarios/*.scenario and compares with what its author computed by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "cases/random_case.h"
#include "checker/schedule_checker.h"
#include "oracle/naive_simulator.h"
#include "policies/registry.h"
#include "scenarios/scenario.h"

namespace partita::scenarios {
namespace {

const std::filesystem::path kFolder = PARTITA_SOURCE_DIR "/tests/scenarios";

std::vector<std::string> scenario_files(const std::filesystem::path& folder = kFolder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".scenario") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string text_of(const std::string& name, const std::filesystem::path& folder = kFolder) {
  std::ifstream file(folder / (name + ".scenario"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string job_name(const Scenario& scenario, JobId id) {
  return std::string(scenario.run.trace.id(id));
}

// In the words of the file, so that a difference can be read and, if it is right, copied.
std::vector<std::string> piece_lines(const Scenario& scenario, const sim::RunResult& result) {
  std::vector<std::string> lines;
  for (const sim::SchedulePiece& piece : result.schedule) {
    lines.push_back(fmt::format(
        "piece {} {} {} {} {}", job_name(scenario, piece.id), cluster::gpu_of(piece.slice).value,
        mig::format_placement(cases::model_of(scenario.run),
                              {piece.profile, cluster::start_of(piece.slice)}),
        format_seconds(piece.begin), format_seconds(piece.end)));
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> piece_lines(const Scenario& scenario) {
  std::vector<std::string> lines;
  for (const ExpectedPiece& piece : scenario.pieces) {
    lines.push_back(fmt::format("piece {} {} {} {} {}", piece.job, piece.gpu, piece.placement,
                                format_seconds(piece.begin), format_seconds(piece.end)));
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> late_lines(const Scenario& scenario, const sim::RunResult& result) {
  std::vector<std::string> lines;
  for (const sim::JobRecord& job : result.job_records) {
    const Micros late = job.completion - job.deadline;
    if (late <= Micros{}) continue;
    lines.push_back(fmt::format("late {} {}", job_name(scenario, job.id), format_seconds(late)));
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> late_lines(const Scenario& scenario) {
  std::vector<std::string> lines;
  for (const auto& [job, late] : scenario.tardiness) {
    lines.push_back(fmt::format("late {} {}", job, format_seconds(late)));
  }
  return lines;
}

void expect_layouts(const Scenario& scenario, const sim::RunResult& result) {
  std::vector<std::string> expected;
  for (const ExpectedLayout& piece : scenario.layouts) {
    expected.push_back(fmt::format("layout {} {} {} {}", piece.gpu, format_seconds(piece.begin),
                                   format_seconds(piece.end), piece.layout));
  }
  std::vector<std::string> given;
  for (const sim::LayoutPiece& piece : result.layouts) {
    given.push_back(fmt::format("layout {} {} {} {}", piece.gpu.value, format_seconds(piece.begin),
                                format_seconds(piece.end),
                                mig::format_layout(cases::model_of(scenario.run), piece.layout)));
  }
  EXPECT_EQ(given, expected);
}

void expect_result(const Scenario& scenario, const sim::RunResult& result) {
  EXPECT_EQ(piece_lines(scenario, result), piece_lines(scenario));
  EXPECT_EQ(late_lines(scenario, result), late_lines(scenario));
  if (!scenario.layouts.empty()) expect_layouts(scenario, result);
  ASSERT_TRUE(scenario.energy_j.has_value()) << "a scenario says its energy";
  EXPECT_NEAR(result.energy_j, *scenario.energy_j, 1e-9 * std::max(1.0, *scenario.energy_j));
  double sum = 0;
  for (const auto& [job, late] : scenario.tardiness) sum += late.to_seconds();
  if (result.jobs > 0) {
    EXPECT_NEAR(result.mean_tardiness_s, sum / static_cast<double>(result.jobs), 1e-9);
  }
  const std::map<std::string, std::uint64_t> counted = {{"preemptions", result.preemptions},
                                                        {"repartitions", result.repartitions},
                                                        {"out-of-memory", result.out_of_memory},
                                                        {"early-restarts", result.early_restarts}};
  for (const auto& [what, count] : scenario.counts) EXPECT_EQ(counted.at(what), count) << what;
  const auto found = checker::violations(scenario.run.trace, cases::options_of(scenario.run),
                                         result, {.work_conserving = false});
  EXPECT_TRUE(found.empty()) << fmt::format("{}", fmt::join(found, "\n"));
}

// The second simulator must find the same; it knows no timetable texts.
void expect_second_opinion(const Scenario& scenario, const sim::RunResult& result) {
  if (!scenario.repartition.empty()) return;
  const oracle::Outcome naive =
      oracle::simulate(scenario.run.trace.jobs, cases::oracle_setup(scenario.run));
  EXPECT_EQ(naive.pieces.size(), result.schedule.size());
  EXPECT_NEAR(naive.energy_j, result.energy_j, 1e-9 * std::max(1.0, naive.energy_j));
  EXPECT_NEAR(naive.mean_tardiness_s, result.mean_tardiness_s, 1e-9);
}

class ScenarioFile : public testing::TestWithParam<std::string> {};

TEST_P(ScenarioFile, GivesWhatWasComputedByHand) {
  const Result<Scenario> scenario = parse_scenario(text_of(GetParam()));
  ASSERT_TRUE(scenario.ok()) << GetParam() << ": " << scenario.error().message;
  const Result<sim::RunResult> result = run(*scenario);
  if (scenario->fails) {
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find(*scenario->fails), std::string::npos)
        << result.error().message;
    return;
  }
  ASSERT_TRUE(result.ok()) << result.error().message;
  expect_result(*scenario, *result);
  expect_second_opinion(*scenario, *result);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ScenarioFile, testing::ValuesIn(scenario_files()),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Scenarios, CoverEverySchedulerOrderAndPlacement) {
  std::set<std::string> seen;
  for (const std::string& name : scenario_files()) {
    const Result<Scenario> scenario = parse_scenario(text_of(name));
    ASSERT_TRUE(scenario.ok()) << name << ": " << scenario.error().message;
    seen.insert(scenario->run.scheduler);
  }
  std::set<std::string> parts;
  for (const policies::SchedulerRow& row : policies::schedulers()) {
    EXPECT_TRUE(seen.contains(row.name)) << "no scenario with " << row.name;
    parts.insert({row.order, row.placement});
  }
  for (const policies::OrderRow& row : policies::orders()) {
    EXPECT_TRUE(parts.contains(row.facts.name)) << row.facts.name;
  }
  for (const std::string& name : seen) {
    const auto plus = name.find('+');
    if (plus != std::string::npos) parts.insert({name.substr(0, plus), name.substr(plus + 1)});
  }
  for (const policies::PlacementRow& row : policies::placements()) {
    EXPECT_TRUE(parts.contains(row.facts.name)) << row.facts.name;
  }
}

// A failing random case is printed, and must be the same case when it is read.
TEST(Scenarios, ACasePrintsAndReadsToItself) {
  using Mode = decide::Preemption::Mode;
  for (const Mode mode : {Mode::kFree, Mode::kNone, Mode::kCost, Mode::kPays}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const std::string text = cases::to_text(cases::random_case(
          {.seed = seed, .scheduler = "mdd", .preemption = mode, .memory_grows = seed % 2 == 0}));
      const Result<Scenario> read = parse_scenario(text);
      ASSERT_TRUE(read.ok()) << read.error().message << "\n" << text;
      EXPECT_EQ(cases::to_text(read->run), text);
    }
  }
}

TEST(Scenarios, AMistakeInAFileIsNamedWithItsLine) {
  EXPECT_EQ(parse_scenario("gpu a30-24gb\nfoo bar\n").error().message,
            "line 2: 'foo bar' is not understood");
  EXPECT_EQ(parse_scenario("preemption never").error().message,
            "line 1: preemption 'never' is not free, none, cost=SECONDS or pays=SECONDS");
  EXPECT_EQ(parse_scenario("not-resumable a").error().message,
            "line 1: a not-resumable line follows the line of its job");
  EXPECT_EQ(parse_scenario("horizon x").error().message, "line 1: 'x' is no number of seconds");
}

}  // namespace
}  // namespace partita::scenarios
