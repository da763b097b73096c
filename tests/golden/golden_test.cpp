// Golden runs and the signature: what every scheduler did the last time anybody looked.
//
// A change that is meant to keep results leaves these files alone. A change that is meant to change
// them runs tests/golden/regenerate, and the difference of the text files is what it changed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "base/rng.h"
#include "cases/case.h"
#include "cases/papers_day.h"
#include "golden/digest.h"
#include "policies/layout_list.h"
#include "policies/registry.h"

namespace partita::golden {
namespace {

using Mode = decide::Preemption::Mode;

constexpr std::size_t kPiecesShown = 12;

bool regenerating = false;

const std::string kFolder = PARTITA_SOURCE_DIR "/tests/golden/";

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Compares, or writes the file anew.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = kFolder + name;
  if (regenerating) {
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(read_file(path), text) << "if this change is meant, run tests/golden/regenerate";
}

std::vector<mig::Layout> layouts(const cases::Case& each, std::uint32_t gpus,
                                 const std::string& text) {
  return *policies::parse_layout_list(cases::model_of(each), gpus, text);
}

// Jobs of whole tenths of a second, drawn without floating-point functions.
workload::Trace jobs_of(std::uint64_t seed, std::uint64_t count) {
  Rng rng(seed, 0x676f6c64);
  constexpr std::int64_t kTenth = 100'000;
  workload::Trace trace;
  const workload::ClassIndex any = trace.class_index("any");
  std::int64_t arrival = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    workload::Job job;
    arrival += kTenth * static_cast<std::int64_t>(rng.below(20));
    job.arrival = {arrival};
    job.job_class = any;
    std::int64_t time = kTenth * static_cast<std::int64_t>(10 + rng.below(30));
    for (std::size_t size = workload::kSliceSizeCount; size-- > 0;) {
      job.time[size] = {time};
      time += kTenth * static_cast<std::int64_t>(5 + rng.below(40));
    }
    job.deadline = job.arrival + job.time[rng.below(workload::kSliceSizeCount)];
    job.memory_gib = static_cast<float>(rng.below(5));
    if (rng.below(4) == 0) job.time[rng.below(2)] = workload::kNoTime;
    trace.add(job, fmt::format("j{}", i));
  }
  return trace;
}

struct Named {
  std::string title;
  cases::Case run;
};

std::vector<Named> golden_runs(const std::string& scheduler) {
  std::vector<Named> runs(4);
  for (Named& named : runs) {
    named.run.scheduler = scheduler;
    named.run.et_a = 0.001;  // so that energy weighs something in jobs of seconds
  }
  cases::Case& free = runs[0].run;
  runs[0].title = "a100-40gb, 3 GPUs, layouts 1,3,10, free preemption";
  free.layouts = layouts(free, 3, "1,3,10");
  free.trace = jobs_of(1, 40);
  cases::Case& none = runs[1].run;
  runs[1].title = "h100-80gb, 2 GPUs, timetable with measured costs, no preemption";
  none.gpu = "h100-80gb";
  none.preemption.mode = Mode::kNone;
  none.switches = {{Micros{}, layouts(none, 2, "2,12")},
                   {Micros::seconds(15), layouts(none, 2, "6,1")},
                   {Micros::seconds(16), layouts(none, 2, "3,9")}};
  none.layouts = none.switches.front().layouts;
  none.trace = jobs_of(2, 40);
  cases::Case& cost = runs[2].run;
  runs[2].title = "a30-24gb, 2 GPUs, timetable with the papers' cost, preemption at 0.7 s";
  cost.gpu = "a30-24gb";
  cost.preemption = {Mode::kCost, Micros{700'000}};
  cost.repartition_cost = sim::RepartitionCost::kPaper;
  cost.switches = {{Micros{}, layouts(cost, 2, "1;2g.12gb:0,1g.6gb:2,1g.6gb:3")},
                   {Micros::seconds(12), layouts(cost, 2, "2g.12gb:0,2g.12gb:2;4g.24gb:0")}};
  cost.layouts = cost.switches.front().layouts;
  cost.trace = jobs_of(3, 30);
  cases::Case& pays = runs[3].run;
  runs[3].title =
      "a100-40gb, 2 GPUs, timetable with the papers' cost, preemption that pays at 0.1 s";
  pays.preemption = {Mode::kPays, Micros{100'000}};
  pays.repartition_cost = sim::RepartitionCost::kPaper;
  pays.switches = {{Micros{}, layouts(pays, 2, "3,10")},
                   {Micros::seconds(20), layouts(pays, 2, "2,6")}};
  pays.layouts = pays.switches.front().layouts;
  pays.trace = jobs_of(4, 60);
  for (std::size_t i = 0; i < pays.trace.jobs.size(); i += 7) pays.trace.jobs[i].resumable = false;
  return runs;
}

// Microseconds that all GPUs together spent at each number of busy compute slices.
std::vector<std::int64_t> micros_at_level(const cases::Case& each, const sim::RunResult& result) {
  const mig::GpuModel& model = cases::model_of(each);
  std::vector<std::int64_t> at_level(static_cast<std::size_t>(model.compute_slices) + 1);
  for (std::size_t gpu = 0; gpu < each.layouts.size(); ++gpu) {
    std::map<Micros, int> changes{{result.end, 0}};
    for (const sim::SchedulePiece& piece : result.schedule) {
      if (cluster::gpu_of(piece.slice).value != gpu) continue;
      changes[piece.begin] += model.profiles[piece.profile].compute_slices;
      changes[piece.end] -= model.profiles[piece.profile].compute_slices;
    }
    Micros since;
    int busy = 0;
    for (const auto& [time, change] : changes) {
      at_level[static_cast<std::size_t>(busy)] += (time - since).count;
      since = time;
      busy += change;
    }
  }
  return at_level;
}

std::int64_t tardiness_sum(const sim::RunResult& result) {
  std::int64_t sum = 0;
  for (const sim::JobRecord& job : result.job_records) {
    sum += std::max<std::int64_t>(0, (job.completion - job.deadline).count);
  }
  return sum;
}

std::string golden_text(const Named& named) {
  const Result<sim::RunResult> result = cases::run_engine(named.run);
  EXPECT_TRUE(result.ok()) << result.error().message;
  if (!result) return "";
  std::string text = fmt::format(
      "{}\n  {} of {} jobs late, tardiness_sum_us {}, end_us {}, energy_j {:.6f}\n"
      "  events {}, decisions {}, preemptions {}, repartitions {}, created {}, destroyed {}\n"
      "  us_at_level {}\n",
      named.title, result->late_jobs, result->jobs, tardiness_sum(*result), result->end.count,
      result->energy_j, result->events, result->decisions, result->preemptions,
      result->repartitions, result->instances_created, result->instances_destroyed,
      fmt::join(micros_at_level(named.run, *result), " "));
  const std::vector<sim::SchedulePiece> pieces = ordered_pieces(*result);
  for (std::size_t i = 0; i < pieces.size() && i < kPiecesShown; ++i) {
    const sim::SchedulePiece& piece = pieces[i];
    text += fmt::format("  j{:<3} gpu {} {:12} {:>9} to {:>9} us\n", piece.id.value,
                        cluster::gpu_of(piece.slice).value,
                        mig::format_placement(cases::model_of(named.run),
                                              {piece.profile, cluster::start_of(piece.slice)}),
                        piece.begin.count, piece.end.count);
  }
  Digest digest;
  digest.add(*result);
  return text + fmt::format("  {} pieces in all, digest {}\n\n", pieces.size(), digest.text());
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, RunsAreAsTheyWere) {
  std::string text;
  for (const Named& named : golden_runs(GetParam())) text += golden_text(named);
  expect_golden("runs/" + GetParam() + ".txt", text);
}

std::vector<std::string> scheduler_names() {
  std::vector<std::string> names;
  for (const policies::SchedulerRow& row : policies::schedulers()) names.push_back(row.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(EveryScheduler, Golden, testing::ValuesIn(scheduler_names()),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// The bench set: the papers' day of seed 7 at rate 20 on 8 GPUs, in every mode.
std::vector<cases::Case> bench_set(const std::string& scheduler) {
  cases::Case day;
  day.scheduler = scheduler;
  day.horizon = Micros::seconds(86'400);
  day.trace = cases::papers_day({}, 7);
  day.layouts = layouts(day, 8, "1,2,2,2,2,2,6,10");
  std::vector<cases::Case> set(6, day);
  set[1].preemption.mode = Mode::kNone;
  set[2].preemption = {Mode::kCost, Micros::seconds(30)};
  for (const std::size_t i : {3U, 4U}) {
    set[i].switches = {{Micros::seconds(8 * 3600), layouts(day, 8, "1,2,2,3,3,6,9,10")},
                       {Micros::seconds(20 * 3600), day.layouts}};
  }
  set[3].repartition_cost = sim::RepartitionCost::kPaper;
  set[4].preemption.mode = Mode::kNone;
  set[5].preemption = {Mode::kPays, Micros::seconds(30)};
  return set;
}

TEST(Signature, IsWhatItWas) {
  Digest digest;
  for (const std::string& scheduler : scheduler_names()) {
    for (const cases::Case& each : bench_set(scheduler)) {
      const Result<sim::RunResult> result = cases::run_engine(each);
      ASSERT_TRUE(result.ok()) << result.error().message;
      digest.add(*result);
    }
  }
  RecordProperty("signature", digest.text());
  expect_golden("signature.txt", digest.text() + "\n");
}

}  // namespace
}  // namespace partita::golden

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  partita::golden::regenerating = argc > 1 && std::string_view(argv[1]) == "--regenerate";
  return RUN_ALL_TESTS();
}
