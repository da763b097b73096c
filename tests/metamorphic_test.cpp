// Changes of the input whose effect on the output is known exactly, whatever the scheduler does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cases/case.h"
#include "cases/random_case.h"
#include "policies/registry.h"

namespace partita {
namespace {

using Mode = decide::Preemption::Mode;

constexpr std::uint64_t kCases = 40;

sim::RunResult run(const cases::Case& each) {
  Result<sim::RunResult> result = cases::run_engine(each);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return *std::move(result);
}

// Pieces in order of job and time, each with its times changed by `f`.
template <typename F>
std::vector<std::string> pieces(const sim::RunResult& result, F f) {
  std::vector<std::string> lines;
  for (const sim::SchedulePiece& piece : result.schedule) {
    lines.push_back(fmt::format("job {:4} from {:15} to {} slice {} profile {}", piece.id.value,
                                f(piece.begin).count, f(piece.end).count, piece.slice.value,
                                piece.profile));
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> pieces(const sim::RunResult& result) {
  return pieces(result, [](Micros time) { return time; });
}

void shift(workload::Trace& trace, Micros by) {
  for (workload::Job& job : trace.jobs) {
    job.arrival += by;
    job.deadline += by;
  }
}

void stretch(cases::Case& each, std::int64_t factor) {
  each.horizon.count *= factor;
  for (workload::Job& job : each.trace.jobs) {
    job.arrival.count *= factor;
    job.deadline.count *= factor;
    for (Micros& time : job.time) {
      if (time != workload::kNoTime) time.count *= factor;
    }
  }
}

double idle_watts(const cases::Case& each) {
  return cases::power_of(each).watts.front();
}

class Metamorphic : public testing::TestWithParam<std::string> {
 protected:
  // Cases without switches, whose layouts would not move along with the jobs.
  template <typename Test>
  void with_static_cases(Test test) {
    std::uint64_t tried = 0;
    for (std::uint64_t seed = 70'000; tried < kCases; ++seed) {
      cases::Case each = cases::random_case({.seed = seed,
                                             .scheduler = GetParam(),
                                             .jobs_max = 40,
                                             .gpus_max = 4,
                                             .may_be_stuck = false});
      if (!each.switches.empty()) continue;
      SCOPED_TRACE(fmt::format("case seed {}\n{}", seed, cases::to_text(each)));
      test(each);
      if (testing::Test::HasFailure()) return;
      ++tried;
    }
  }
};

TEST_P(Metamorphic, OtherIdsAndClassesChangeNothing) {
  with_static_cases([](const cases::Case& each) {
    cases::Case renamed = each;
    renamed.trace = {};
    for (std::size_t i = 0; i < each.trace.jobs.size(); ++i) {
      workload::Job job = each.trace.jobs[i];
      job.job_class = renamed.trace.class_index(fmt::format("class {}", i % 3));
      renamed.trace.add(job, fmt::format("{:x}", i * 2'654'435'761U));
    }
    EXPECT_EQ(cases::to_text(each, run(each)), cases::to_text(renamed, run(renamed)));
  });
}

TEST_P(Metamorphic, ATraceInAnotherOrderOfLinesChangesNothing) {
  with_static_cases([](const cases::Case& each) {
    cases::Case ordered = each;
    ordered.trace = {};
    const workload::ClassIndex any = ordered.trace.class_index("any");
    for (std::size_t i = 0; i < each.trace.jobs.size(); ++i) {
      workload::Job job = each.trace.jobs[i];
      job.job_class = any;
      job.arrival += Micros{static_cast<std::int64_t>(i)};  // no two at once: ties keep line order
      job.deadline = std::max(job.deadline, job.arrival);
      ordered.trace.add(job, fmt::format("{}", i));
    }
    cases::Case shuffled = ordered;
    shuffled.trace = {};
    shuffled.trace.class_index("any");
    for (std::uint32_t i = static_cast<std::uint32_t>(each.trace.jobs.size()); i-- > 0;) {
      shuffled.trace.add(ordered.trace.jobs[i], ordered.trace.id(JobId{i}));
    }
    workload::sort_by_arrival(ordered.trace);
    workload::sort_by_arrival(shuffled.trace);
    EXPECT_EQ(cases::to_text(each, run(ordered)), cases::to_text(each, run(shuffled)));
  });
}

TEST_P(Metamorphic, TwiceTheTimeIsTwiceTheScheduleAndTwiceTheEnergy) {
  with_static_cases([](cases::Case each) {
    // Only where nothing is rounded: twice a rounded time is not the rounded double.
    each.preemption = {Mode::kNone, {}};
    // A mean over up to five sizes is then a whole number of microseconds.
    stretch(each, 60);
    cases::Case slow = each;
    stretch(slow, 2);
    const sim::RunResult once = run(each);
    const sim::RunResult twice = run(slow);
    EXPECT_EQ(pieces(once, [](Micros time) { return time + time; }), pieces(twice));
    EXPECT_EQ(2 * once.energy_j, twice.energy_j);
    EXPECT_DOUBLE_EQ(2 * once.mean_tardiness_s, twice.mean_tardiness_s);
  });
}

TEST_P(Metamorphic, ALaterDayIsTheSameDayAfterAnIdleOne) {
  with_static_cases([](const cases::Case& each) {
    const Micros by = Micros::seconds(86'400);
    cases::Case later = each;
    later.horizon += by;
    shift(later.trace, by);
    const sim::RunResult today = run(each);
    const sim::RunResult tomorrow = run(later);
    EXPECT_EQ(pieces(today, [&](Micros time) { return time + by; }), pieces(tomorrow));
    EXPECT_EQ(today.mean_tardiness_s, tomorrow.mean_tardiness_s);
    const double idle = idle_watts(each) * 86'400 * static_cast<double>(each.layouts.size());
    EXPECT_NEAR(today.energy_j + idle, tomorrow.energy_j, 1e-9 * tomorrow.energy_j);
  });
}

TEST_P(Metamorphic, ATraceCutAtAnIdleInstantIsTwoTraces) {
  if (GetParam() == "random" || GetParam() == "atc+random") {
    GTEST_SKIP() << "the second half would draw other numbers";
  }
  with_static_cases([](const cases::Case& each) {
    const Micros gap = Micros::seconds(1'000'000);  // longer than any case runs
    cases::Case second = each;
    shift(second.trace, gap);
    cases::Case both = each;
    for (std::uint32_t i = 0; i < second.trace.jobs.size(); ++i) {
      both.trace.add(second.trace.jobs[i], fmt::format("again {}", i));
    }
    const sim::RunResult all = run(both);
    cases::Case first = each;
    first.horizon = second.horizon = all.end;
    const sim::RunResult early = run(first);
    sim::RunResult late = run(second);
    for (sim::SchedulePiece& piece : late.schedule) {
      piece.id.value += static_cast<std::uint32_t>(each.trace.jobs.size());
    }
    std::vector<std::string> halves = pieces(early);
    for (const std::string& piece : pieces(late)) halves.push_back(piece);
    std::ranges::sort(halves);
    EXPECT_EQ(halves, pieces(all));
    const double idle =
        idle_watts(each) * all.end.to_seconds() * static_cast<double>(each.layouts.size());
    EXPECT_NEAR(early.energy_j + late.energy_j - idle, all.energy_j, 1e-9 * all.energy_j);
    EXPECT_NEAR(early.mean_tardiness_s + late.mean_tardiness_s, 2 * all.mean_tardiness_s, 1e-9);
  });
}

TEST_P(Metamorphic, AGpuThatNobodyCanUseAddsItsIdleEnergyAndNothingElse) {
  with_static_cases([](const cases::Case& each) {
    cases::Case larger = each;
    larger.layouts.push_back(mig::Layout{});
    const sim::RunResult before = run(each);
    const sim::RunResult after = run(larger);
    EXPECT_EQ(pieces(before), pieces(after));
    const double idle = idle_watts(each) * after.end.to_seconds();
    EXPECT_NEAR(before.energy_j + idle, after.energy_j, 1e-9 * after.energy_j);
  });
}

TEST_P(Metamorphic, ALaterHorizonAddsIdleEnergyAndNothingElse) {
  with_static_cases([](const cases::Case& each) {
    const sim::RunResult before = run(each);
    cases::Case longer = each;
    longer.horizon = before.end + Micros::seconds(100);
    const sim::RunResult after = run(longer);
    EXPECT_EQ(pieces(before), pieces(after));
    const double idle = idle_watts(each) * 100 * static_cast<double>(each.layouts.size());
    EXPECT_NEAR(before.energy_j + idle, after.energy_j, 1e-9 * after.energy_j);
  });
}

TEST_P(Metamorphic, ASecondPowerCurveChangesTheEnergyOnly) {
  if (GetParam() == "met") GTEST_SKIP() << "marginal ET looks at the power curve";
  with_static_cases([](cases::Case each) {
    each.gpu = "a100-40gb";
    each.layouts.assign(each.layouts.size(), *mig::numbered_layout(cases::model_of(each), 3));
    for (workload::Job& job : each.trace.jobs) {
      job.memory_gib = 0;
      for (Micros& time : job.time) time = std::max(time, Micros{1});
    }
    each.power = "smart-mig";
    // What pays looks at energy.
    if (each.preemption.mode == Mode::kPays) each.preemption.mode = Mode::kCost;
    cases::Case other = each;
    other.power = "tech-report";
    EXPECT_EQ(pieces(run(each)), pieces(run(other)));
  });
}

std::vector<std::string> schedulers_to_try() {
  std::vector<std::string> names;
  for (const policies::SchedulerRow& row : policies::schedulers()) names.push_back(row.name);
  names.emplace_back("atc+random");
  names.emplace_back("mdd+most-packed");
  return names;
}

INSTANTIATE_TEST_SUITE_P(EveryScheduler, Metamorphic, testing::ValuesIn(schedulers_to_try()),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '+'; }, '_');
                           return name;
                         });

TEST(MetamorphicFifo, FirstComeFirstServedDoesNotCareAboutDeadlines) {
  for (std::uint64_t seed = 80'000; seed < 80'040; ++seed) {
    cases::Case each =
        cases::random_case({.seed = seed, .scheduler = "fifo", .may_be_stuck = false});
    // There a late job may displace another.
    if (each.preemption.mode == Mode::kCost || each.preemption.mode == Mode::kPays) continue;
    each.repartition_cost = sim::RepartitionCost::kMeasured;
    cases::Case urgent = each;
    for (workload::Job& job : urgent.trace.jobs) job.deadline = job.arrival;
    EXPECT_EQ(pieces(run(each)), pieces(run(urgent))) << cases::to_text(each);
  }
}

}  // namespace
}  // namespace partita
