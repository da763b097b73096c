#include "experiment/day_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/rng.h"
#include "experiment/definition.h"
#include "workload/job_source.h"

namespace partita::experiment {
namespace {

constexpr std::uint64_t kShareSeed = 7;  // which jobs a share keeps
constexpr std::size_t kTuneEvery = 3;    // windows

Micros hours(double count) {
  return micros_from_seconds(count * 3600);
}

std::string mix_text(const workload::PapersMixOptions& mix) {
  return fmt::format("deadline {}:{} training {} bert {} inference {} training {}:{} memory {}",
                     mix.deadline_low, mix.deadline_high, mix.training_share, mix.bert_share,
                     mix.inference_mean_min, mix.training_low_min, mix.training_high_min,
                     fmt::join(mix.memory_gib, ","));
}

// `make` is a generator's factory; the options get the seed of the day.
template <typename Options, typename Make>
auto generated(const Options& options, Make make) {
  return [options, make](std::uint64_t seed) -> Result<workload::Trace> {
    Options of_day = options;
    of_day.seed = seed;
    auto source = make(of_day);
    if (!source) return source.error();
    return workload::read_all(**source);
  };
}

// Numbers that change when a job does.
std::string digest_of(const workload::Trace& trace) {
  std::string text;
  for (const workload::Job& job : trace.jobs) {
    text += fmt::format("{} {} {} ", job.arrival.count, job.deadline.count, job.memory_gib);
    for (const Micros time : job.time) text += fmt::format("{} ", time.count);
  }
  for (const workload::MemoryCurve& curve : trace.memory_curves) {
    text += fmt::format("{} {} {} {} ", curve.start_gib, curve.peak_gib, curve.peak_at,
                        curve.noise_gib);
  }
  for (const workload::JobOwner& owner : trace.owners) {
    text += fmt::format("{} {} ", trace.user_names[owner.user], owner.priority);
  }
  return fingerprint(text);
}

using Days = std::vector<workload::Trace>;

Days cut(const workload::Trace& trace, const Windows& windows) {
  Days days;
  Rng kept(kShareSeed);
  workload::Trace day;
  Micros begin;
  const auto close = [&] {
    if (day.jobs.size() >= windows.jobs_min) days.push_back(std::move(day));
    day = {};
    day.class_names = trace.class_names;
    day.user_names = trace.user_names;
  };
  close();
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    workload::Job job = trace.jobs[i];
    while (job.arrival >= begin + windows.length) {
      close();
      begin += windows.length;
    }
    if (kept.uniform() >= windows.share) continue;
    job.arrival = job.arrival - begin;
    job.deadline = job.deadline - begin;
    const auto id = trace.id(JobId{static_cast<std::uint32_t>(i)});
    day.add(job, id,
            trace.memory_curves.empty() ? workload::MemoryCurve{} : trace.memory_curves[i]);
    if (!trace.owners.empty()) day.set_owner(trace.owners[i]);
  }
  close();
  return days;
}

struct SplitDays {
  Days test;
  Days tune;
};

SplitDays split_days(Days days) {
  SplitDays split;
  for (std::size_t i = 0; i < days.size(); ++i) {
    (i % kTuneEvery == kTuneEvery - 1 ? split.tune : split.test).push_back(std::move(days[i]));
  }
  return split;
}

}  // namespace

DaySource migm_days(const workload::MigmOptions& options) {
  return {fmt::format("migm {} {} jobs {} ms a layer", options.mix, options.jobs, options.layer_ms),
          Micros{}, kDaysMax, kDaysMax, generated(options, workload::make_migm)};
}

DaySource papers_days(const workload::PapersOptions& options) {
  return {fmt::format("papers {} h rate {} hourly {} {}", options.hours, options.rate,
                      fmt::join(options.hourly_rates, ","), mix_text(options.mix)),
          hours(options.hours), kDaysMax, kDaysMax, generated(options, workload::make_papers)};
}

DaySource poisson_days(const workload::PoissonOptions& options) {
  return {fmt::format("poisson {} jobs a minute, {} jobs, {} h, {}", options.rate_per_min,
                      options.jobs.value_or(0), options.hours.value_or(0), mix_text(options.mix)),
          hours(options.hours.value_or(0)), kDaysMax, kDaysMax,
          generated(options, workload::make_poisson)};
}

Result<std::vector<workload::Trace>> make_days(const DaySource& source, Role role,
                                               std::uint64_t count) {
  const std::uint64_t most = role == Role::kTest ? source.test_days_max : source.tune_days_max;
  Days days;
  for (std::uint64_t day = 0; day < std::min(count, most); ++day) {
    Result<workload::Trace> made = source.make(day_seed(role, day));
    if (!made) return made.error();
    days.push_back(*std::move(made));
  }
  return days;
}

DaySource linearised(const DaySource& days) {
  DaySource made = days;
  made.text += ", linearised";
  made.make = [days](std::uint64_t seed) -> Result<workload::Trace> {
    auto trace = days.make(seed);
    if (!trace) return trace;
    for (workload::Job& job : trace->jobs) {
      const Micros single = job.time.front();
      const Micros whole = job.time.back();
      CHECK(single != workload::kNoTime && whole != workload::kNoTime);
      const double slack = (job.deadline - job.arrival).to_seconds() / whole.to_seconds();
      for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
        job.time[i] = micros_from_seconds(single.to_seconds() / workload::kSliceSizes[i]);
      }
      job.deadline = job.arrival + micros_from_seconds(slack * job.time.back().to_seconds());
    }
    return trace;
  };
  return made;
}

DaySource realistic_days(const workload::RealisticOptions& options) {
  return {fmt::format("realistic {} h {} jobs an hour profile {} burstiness {} median {} sigma {} "
                      "{}:{} slack {} {} {} curves {} memory {} {} {} {}",
                      options.hours, options.jobs_per_hour, options.profile, options.burstiness,
                      options.median_s, options.sigma, options.shortest_s, options.longest_s,
                      options.slack_median, options.slack_sigma, options.slack_least,
                      options.curves, options.memory_scale, options.memory_sigma,
                      options.memory_unknown_gib, options.memory_max_gib),
          hours(options.hours), kDaysMax, kDaysMax, generated(options, workload::make_realistic)};
}

Result<std::vector<workload::Trace>> trace_windows(const workload::Trace& trace,
                                                   const std::string& name,
                                                   const Windows& windows) {
  CHECK(windows.length > Micros{});
  Days days = cut(trace, windows);
  if (!days.empty()) return days;
  return Error{fmt::format(
      "{} has {} jobs, and no window of {:.4g} hours with {} or more of them: longer windows "
      "(--window), a larger share (--sample) or more jobs are needed",
      name, trace.jobs.size(), windows.length.to_seconds() / 3600, windows.jobs_min)};
}

Result<DaySource> trace_days(const workload::Trace& trace, const std::string& name,
                             const Windows& windows) {
  auto days = trace_windows(trace, name, windows);
  if (!days) return days.error();
  const auto split = std::make_shared<const SplitDays>(split_days(*std::move(days)));
  DaySource source;
  source.text = fmt::format("trace {} window {} share {} least {}", digest_of(trace),
                            windows.length.count, windows.share, windows.jobs_min);
  source.window = windows.length;
  source.test_days_max = split->test.size();
  source.tune_days_max = split->tune.size();
  source.make = [split](std::uint64_t seed) -> Result<workload::Trace> {
    const Role role = role_of_seed(seed);
    const Days& days = role == Role::kTest ? split->test : split->tune;
    const std::uint64_t day = seed - day_seed(role, 0);
    CHECK(day < days.size());
    return days[day];
  };
  return source;
}

}  // namespace partita::experiment
