#include "experiment/day_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "policies/registry.h"
#include "sim/engine.h"
#include "workload/generators/papers.h"
#include "workload/job_source.h"

namespace partita::experiment {
namespace {

using Json = nlohmann::ordered_json;

workload::Trace papers_jobs(double hours, double rate) {
  workload::PapersOptions options;
  options.hours = hours;
  options.rate = rate;
  options.seed = 5;
  const auto source = workload::make_papers(options);
  CHECK(source.ok());
  return *workload::read_all(**source);
}

struct DetailedRun {
  workload::Trace trace;
  sim::RunOptions options;
  sim::RunResult result;

  Json day(std::size_t pieces_max = kDayPiecesMax) const {
    return day_json({"s", "p", "cedf", "none", 5, {}}, trace, options, result, pieces_max);
  }
};

DetailedRun run_of(workload::Trace trace, const std::string& scheduler,
                   const std::string& repartition, decide::Preemption preemption) {
  const mig::GpuModel& model = **mig::find_gpu("a100-40gb");
  DetailedRun run{.trace = std::move(trace), .options = {}, .result = {}};
  run.options.model = &model;
  run.options.gpus = 2;
  run.options.power = &model.power_curves.front();
  run.options.preemption = preemption;
  run.options.keep_jobs = true;
  run.options.keep_schedule = true;
  const auto policy = policies::make_scheduler(scheduler, 1);
  const auto layouts = policies::make_repartitioner(repartition, model, 2);
  CHECK(policy.ok() && layouts.ok());
  auto result = sim::simulate(run.trace, run.options, **policy, **layouts);
  CHECK(result.ok());
  run.result = *std::move(result);
  return run;
}

std::vector<DetailedRun> some_runs() {
  using Mode = decide::Preemption::Mode;
  std::vector<DetailedRun> runs;
  runs.push_back(run_of(papers_jobs(24, 4), "cedf", "static:2,6", {}));
  runs.push_back(
      run_of(papers_jobs(24, 4), "edf-ss", "timetable:08:00=9,2,20:00=2,2", {Mode::kNone, {}}));
  runs.push_back(
      run_of(papers_jobs(6, 5), "mdd", "static:6,6", {Mode::kCost, Micros::seconds(10)}));
  return runs;
}

// Sum of the areas of the steps from 0 to `end_s`.
double integral(const Json& steps, const char* column, double end_s) {
  double sum = 0;
  for (std::size_t i = 0; i < steps["time_s"].size(); ++i) {
    const bool last = i + 1 == steps["time_s"].size();
    const double until = last ? end_s : steps["time_s"][i + 1].get<double>();
    sum += (until - steps["time_s"][i].get<double>()) * steps[column][i].get<double>();
  }
  return sum;
}

TEST(DayFile, ThePowerCurveHoldsTheEnergyOfTheRun) {
  for (const DetailedRun& run : some_runs()) {
    const double energy = integral(run.day()["power"], "watts", run.result.end.to_seconds());
    EXPECT_NEAR(energy / run.result.energy_j, 1, 1e-9);
  }
}

TEST(DayFile, TheQueueHoldsTheTimeThatJobsDoNotRun) {
  for (const DetailedRun& run : some_runs()) {
    double waited = 0;
    for (const sim::JobRecord& record : run.result.job_records) {
      waited += (record.completion - run.trace.jobs[record.id.value].arrival).to_seconds();
    }
    for (const sim::SchedulePiece& piece : run.result.schedule) {
      waited -= (piece.end - piece.begin).to_seconds();
    }
    const Json queue = run.day()["queue"];
    EXPECT_NEAR(integral(queue, "waiting", run.result.end.to_seconds()), waited,
                1e-6 * waited + 1e-3);
    for (const Json& waiting : queue["waiting"]) EXPECT_GE(waiting, 0.0);
    EXPECT_EQ(queue["waiting"].back(), 0.0);
  }
}

TEST(DayFile, EveryJobAndPieceIsThereOnce) {
  for (const DetailedRun& run : some_runs()) {
    const Json day = run.day();
    EXPECT_EQ(day["jobs"]["id"].size(), run.trace.jobs.size());
    EXPECT_EQ(day["pieces"]["job"].size(), run.result.schedule.size());
    EXPECT_EQ(day["layouts"]["gpu"].size(), run.result.layouts.size());
    EXPECT_EQ(day["energy_j"], run.result.energy_j);
    std::map<std::string, double> completion;
    for (std::size_t i = 0; i < day["jobs"]["id"].size(); ++i) {
      completion[day["jobs"]["id"][i].dump()] = day["jobs"]["completion_s"][i];
    }
    std::map<std::string, double> last_end;
    for (std::size_t i = 0; i < day["pieces"]["job"].size(); ++i) {
      double& end = last_end[day["pieces"]["job"][i].dump()];
      end = std::max(end, day["pieces"]["end_s"][i].get<double>());
    }
    EXPECT_EQ(completion, last_end);
  }
}

TEST(DayFile, OfAWeekTheBusiestDayIsShown) {
  workload::Trace week = papers_jobs(24, 1);
  const std::size_t once = week.jobs.size();
  // The same day again on the third day, twice, and a last job on the seventh.
  for (std::size_t copy = 0; copy < 2; ++copy) {
    for (std::size_t i = 0; i < once; ++i) {
      workload::Job job = week.jobs[i];
      job.arrival = job.arrival + Micros::seconds(2 * 86'400);
      job.deadline = job.deadline + Micros::seconds(2 * 86'400);
      week.add(job, "again-" + std::to_string(copy) + "-" + std::to_string(i));
    }
  }
  workload::Job last = week.jobs.front();
  last.arrival = last.deadline = Micros::seconds(6 * 86'400);
  week.add(last, "last");
  sort_by_arrival(week);
  const DetailedRun run = run_of(std::move(week), "cedf", "static:2,6", {});
  const Json day = run.day();
  EXPECT_EQ(day["window_s"], Json::array({2 * 86'400.0, 3 * 86'400.0}));
  EXPECT_GE(day["jobs"]["id"].size(), 2 * once);
  EXPECT_LT(day["jobs"]["id"].size(), 2 * once + 20);
  for (const Json& end : day["pieces"]["end_s"]) EXPECT_LE(end, 86'400.0);
  for (const Json& begin : day["pieces"]["begin_s"]) EXPECT_GE(begin, 0.0);
  EXPECT_TRUE(std::ranges::is_sorted(day["power"]["time_s"]));
}

TEST(DayFile, TooManyPiecesMakeTheWindowShorter) {
  const DetailedRun run = run_of(papers_jobs(24, 4), "cedf", "static:2,6", {});
  const std::size_t all = run.result.schedule.size();
  const Json day = run.day(all / 3);
  EXPECT_LE(day["pieces"]["job"].size(), all / 3);
  EXPECT_GT(day["pieces"]["job"].size(), all / 20);
  EXPECT_LT(day["window_s"][1].get<double>() - day["window_s"][0].get<double>(), 86'400.0);
}

TEST(DayFile, IdsThatAreNumbersAreNumbers) {
  workload::Trace trace;
  trace.class_names = {"c"};
  workload::Job job;
  job.deadline = Micros::seconds(9);
  job.time.fill(Micros::seconds(1));
  for (const char* id : {"7", "007", "pod-7", "12345678901234567890", ""}) trace.add(job, id);
  const Json ids = run_of(std::move(trace), "cedf", "static:2,2", {}).day()["jobs"]["id"];
  EXPECT_EQ(ids, Json::parse(R"([7, "007", "pod-7", "12345678901234567890", ""])"));
}

}  // namespace
}  // namespace partita::experiment
