#include "cases/random_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "mig/enumerate.h"
#include "oracle/naive_rules.h"

namespace partita::cases {
namespace {

constexpr std::uint64_t kPurpose = 0x6361736573;
constexpr std::uint64_t kMemoryPurpose = 0x6d656d6f7279;
constexpr std::uint64_t kResumablePurpose = 0x726573756d65;

template <typename T>
const T& one_of(Rng& rng, const std::vector<T>& values) {
  return values[rng.below(values.size())];
}

bool chance(Rng& rng, double probability) {
  return rng.uniform() < probability;
}

const std::vector<mig::Layout>& layouts_of(const mig::GpuModel& model) {
  static std::map<std::string, std::vector<mig::Layout>> cache;
  std::vector<mig::Layout>& layouts = cache[model.key];
  if (layouts.empty()) {
    layouts = mig::legal_layouts(model, {.double_memory = true, .media = true});
    layouts.erase(layouts.begin());  // the empty one
  }
  return layouts;
}

mig::Layout random_layout(Rng& rng, const mig::GpuModel& model) {
  if (chance(rng, 0.5)) return one_of(rng, layouts_of(model));
  const auto count = static_cast<std::uint64_t>(mig::numbered_layouts_count(model));
  return *mig::numbered_layout(model, static_cast<int>(rng.below(count)) + 1);
}

std::vector<mig::Layout> random_layouts(Rng& rng, const mig::GpuModel& model, std::uint32_t gpus) {
  std::vector<mig::Layout> layouts;
  for (std::uint32_t i = 0; i < gpus; ++i) {
    const bool again = i > 0 && chance(rng, 0.3);
    layouts.push_back(again ? layouts.back() : random_layout(rng, model));
  }
  return layouts;
}

// How a case's times are drawn. A coarse grid makes ties and simultaneous events the rule; single
// microseconds make rounding matter; the generic scale is where nothing coincides.
struct Scale {
  std::int64_t unit = 1'000'000;  // microseconds
  std::uint64_t arrivals = 20;    // units
  std::uint64_t longest = 12;
};

Scale random_scale(Rng& rng) {
  static const std::vector<Scale> kScales = {
      {1'000'000, 20, 12}, {1'000'000, 6, 4}, {1'000'000, 60, 40},         {10'000, 200, 100},
      {1, 30, 20},         {1, 3'000, 1'000}, {1, 40'000'000, 20'000'000},
  };
  return one_of(rng, kScales);
}

std::array<Micros, workload::kSliceSizeCount> random_times(Rng& rng, const Scale& scale) {
  std::array<Micros, workload::kSliceSizeCount> times{};
  for (Micros& time : times) {
    time = {scale.unit * static_cast<std::int64_t>(1 + rng.below(scale.longest))};
  }
  // Most jobs are no slower on a larger slice.
  if (chance(rng, 0.8)) std::ranges::sort(times, std::ranges::greater());
  if (chance(rng, 0.2)) std::ranges::fill(times, times[rng.below(times.size())]);
  if (chance(rng, 0.35)) {
    for (Micros& time : times) {
      if (chance(rng, 0.35)) time = workload::kNoTime;
    }
  }
  return times;
}

float random_memory(Rng& rng, const mig::GpuModel& model) {
  if (chance(rng, 0.6)) return 0;
  if (chance(rng, 0.5)) return static_cast<float>(one_of(rng, model.profiles).memory_gib);
  return static_cast<float>(rng.uniform(0.0, model.profiles.back().memory_gib));
}

// Of the layouts the case begins and ends its days with, which last; or of all of them.
std::vector<mig::ProfileIndex> profiles_in(const Case& each, bool lasting_only) {
  std::vector<mig::ProfileIndex> profiles;
  const auto collect = [&](const std::vector<mig::Layout>& layouts) {
    for (const mig::Layout& layout : layouts) {
      for (const mig::Placement placement : layout.instances()) {
        profiles.push_back(placement.profile);
      }
    }
  };
  if (each.switches.empty()) collect(each.layouts);
  for (const policies::TimetableSwitch& change : each.switches) {
    if (!lasting_only || &change == &each.switches.back()) collect(change.layouts);
  }
  return profiles;
}

// Lets the job run on one profile of the case, if it can run on none.
void make_runnable(Rng& rng, const Case& each, const Scale& scale, bool lasting_only,
                   workload::Job& job) {
  const mig::GpuModel& model = model_of(each);
  const std::vector<mig::ProfileIndex> profiles = profiles_in(each, lasting_only);
  for (const mig::ProfileIndex profile : profiles) {
    if (oracle::can_run(model, job, profile)) return;
  }
  const mig::Profile& profile = model.profiles[one_of(rng, profiles)];
  const std::size_t size = *workload::slice_size_index(profile.compute_slices);
  if (job.time[size] == workload::kNoTime) {
    job.time[size] = {scale.unit * static_cast<std::int64_t>(1 + rng.below(scale.longest))};
  }
  job.memory_gib = std::min(job.memory_gib, static_cast<float>(profile.memory_gib) - 0.125F);
}

void add_jobs(Rng& rng, const Draw& draw, const Scale& scale, Case& each) {
  const std::uint64_t count = rng.below(draw.jobs_max + 1);
  // Some days end while the jobs run.
  const Micros first = chance(rng, 0.05) ? Micros::seconds(86'395) : Micros{};
  const std::uint64_t slack_max = 1 + rng.below(3 * scale.longest);
  const workload::ClassIndex job_class = each.trace.class_index("any");
  std::vector<workload::Job> jobs;
  for (std::uint64_t i = 0; i < count; ++i) {
    workload::Job job;
    job.job_class = job_class;
    job.arrival = first + Micros{scale.unit * static_cast<std::int64_t>(rng.below(scale.arrivals))};
    job.deadline =
        job.arrival + Micros{scale.unit * static_cast<std::int64_t>(rng.below(slack_max))};
    job.time = random_times(rng, scale);
    job.memory_gib = random_memory(rng, model_of(each));
    if (!draw.may_be_stuck || chance(rng, 0.995)) {
      make_runnable(rng, each, scale, !draw.may_be_stuck, job);
    }
    const bool some_time =
        std::ranges::any_of(job.time, [](Micros time) { return time != workload::kNoTime; });
    if (!some_time) job.time.back() = {scale.unit};
    jobs.push_back(job);
  }
  std::ranges::stable_sort(jobs, {}, [](const workload::Job& job) { return job.arrival; });
  for (std::size_t i = 0; i < jobs.size(); ++i) each.trace.add(jobs[i], fmt::format("j{}", i));
}

// Switches are near the jobs, and often so near each other that a change is overtaken.
void add_switches(Rng& rng, const Scale& scale, Case& each) {
  const auto gpus = static_cast<std::uint32_t>(each.layouts.size());
  const std::int64_t unit = std::max<std::int64_t>(scale.unit, 1'000);
  const std::uint64_t range = chance(rng, 0.3) ? 4 : scale.arrivals + 5;
  std::vector<Micros> times;
  for (std::uint64_t i = 1 + rng.below(5); i > 0; --i) {
    times.push_back({unit * static_cast<std::int64_t>(rng.below(range))});
    if (chance(rng, 0.3)) times.push_back(times.back() + Micros{150'000});
  }
  std::ranges::sort(times);
  const auto rest = std::ranges::unique(times);
  times.erase(rest.begin(), rest.end());
  for (const Micros time : times) {
    each.switches.push_back({time, random_layouts(rng, model_of(each), gpus)});
    // The same jobs and nearly the same layouts: some instances stay.
    const bool some_stay = each.switches.size() > 1 && gpus > 1 && chance(rng, 0.5);
    if (some_stay) each.switches.back().layouts[0] = each.switches.front().layouts[0];
  }
}

using Mode = decide::Preemption::Mode;

// What pays has to pay several times the cost, so there the cost is often a fraction of the unit.
Micros random_cost(Rng& rng, const Scale& scale, Mode mode) {
  const auto units = static_cast<std::int64_t>(rng.below(4));
  if (mode == Mode::kCost || chance(rng, 0.5)) return {scale.unit * units};
  return {scale.unit * units * static_cast<std::int64_t>(scale.longest) / 200};
}

decide::Preemption random_preemption(Rng& rng, const Draw& draw, const Scale& scale) {
  const Mode drawn =
      one_of(rng, std::vector<Mode>{Mode::kFree, Mode::kNone, Mode::kCost, Mode::kPays});
  const Mode mode = draw.preemption.value_or(drawn);
  if (mode == Mode::kFree || mode == Mode::kNone) return {mode, {}};
  return {mode, random_cost(rng, scale, mode)};
}

// With draws of its own, so that the rest of the case is as it would be without.
void forbid_interrupting_some(const Draw& draw, Case& each) {
  Rng rng(draw.seed, kResumablePurpose);
  if (chance(rng, 0.4)) return;
  const double share = rng.uniform();
  for (workload::Job& job : each.trace.jobs) job.resumable = !chance(rng, share * share);
}

// Of the profiles the job may use and the case keeps.
double most_memory(const Case& each, const workload::Job& job) {
  const mig::GpuModel& model = model_of(each);
  double most = 0;
  for (const mig::ProfileIndex profile : profiles_in(each, true)) {
    if (!oracle::can_run(model, job, profile)) continue;
    most = std::max(most, model.profiles[profile].memory_gib);
  }
  return most;
}

workload::MemoryCurve random_curve(Rng& rng, double most) {
  workload::MemoryCurve curve;
  curve.peak_gib = chance(rng, 0.2) ? most : most * rng.uniform(0.05, 1);
  curve.start_gib = chance(rng, 0.2) ? 0 : curve.peak_gib * rng.uniform();
  if (chance(rng, 0.3)) curve.peak_at = rng.uniform(0.05, 1);
  if (chance(rng, 0.5)) curve.noise_gib = rng.uniform(0, 0.05 * most);
  return curve;
}

decide::EarlyRestart random_rule(Rng& rng) {
  decide::EarlyRestart rule;
  rule.readings = one_of(rng, std::vector<std::uint32_t>{5, 10, 50});
  rule.window = one_of(rng, std::vector<std::uint32_t>{3, 5, 20});
  rule.least = 3 + static_cast<std::uint32_t>(rng.below(3));
  rule.window = std::max(rule.window, rule.least);
  rule.z = one_of(rng, std::vector<double>{0, 1, 2.33});
  rule.confirmations = 1 + static_cast<std::uint32_t>(rng.below(3));
  return rule;
}

// With draws of its own, so that the rest of the case is as it would be without.
void grow_memory(const Draw& draw, const Scale& scale, Case& each) {
  Rng rng(draw.seed, kMemoryPurpose);
  each.memory.restart = {scale.unit * static_cast<std::int64_t>(rng.below(3))};
  if (chance(rng, 0.6)) each.memory.early_restart = random_rule(rng);
  each.trace.memory_curves.resize(each.trace.jobs.size());
  for (std::size_t i = 0; i < each.trace.jobs.size(); ++i) {
    workload::Job& job = each.trace.jobs[i];
    const double most = most_memory(each, job);
    if (most == 0 || chance(rng, 0.25)) continue;
    each.trace.memory_curves[i] = random_curve(rng, most);
    if (chance(rng, 0.8)) {
      job.memory_gib = static_cast<float>(each.trace.memory_curves[i].start_gib * rng.uniform());
    }
  }
}

}  // namespace

Case random_case(const Draw& draw) {
  Rng rng(draw.seed, kPurpose);
  Case each;
  const mig::GpuModel& model = *one_of(rng, mig::catalogue());
  each.gpu = model.key;
  each.power = one_of(rng, model.power_curves).name;
  each.scheduler = draw.scheduler;
  each.seed = draw.seed;
  const Scale scale = random_scale(rng);
  each.preemption = random_preemption(rng, draw, scale);
  each.repartition_cost =
      chance(rng, 0.5) ? sim::RepartitionCost::kPaper : sim::RepartitionCost::kMeasured;
  if (chance(rng, 0.3)) {
    each.horizon = {scale.unit * static_cast<std::int64_t>(rng.below(3 * scale.arrivals))};
  }
  each.et_a = one_of(rng, std::vector<double>{2e-7, 2.25e-5, 0.01, 1});
  const auto gpus =
      static_cast<std::uint32_t>(draw.gpus_min + rng.below(draw.gpus_max - draw.gpus_min + 1));
  each.layouts = random_layouts(rng, model, gpus);
  if (chance(rng, 0.6)) add_switches(rng, scale, each);
  add_jobs(rng, draw, scale, each);
  forbid_interrupting_some(draw, each);
  if (draw.memory_grows) grow_memory(draw, scale, each);
  return each;
}

}  // namespace partita::cases
