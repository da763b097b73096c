#include "policies/learned/place_scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "policies/learned/time_bins.h"

namespace partita::policies {
namespace {

constexpr double kRateMinutes = 10;  // how fast arrivals fade
constexpr double kNever = std::numeric_limits<double>::infinity();

double signed_log(double x) {
  return x < 0 ? -std::log1p(-x) : std::log1p(x);
}

float bounded(double x) {
  return static_cast<float>(std::clamp(x, -4.0, 4.0));
}

double minutes(double micros) {
  return micros / kMicrosPerMinute;
}

// What the pairs of one job share.
struct JobFacts {
  const decide::ActiveJob& job;
  double overhead = 0;
  double work = 0;
  double fastest = 0;    // microseconds from now
  double slack = 0;      // microseconds until the deadline
  unsigned on_time = 0;  // sizes
  double least_waste = kNever;
  double earliest = kNever;  // on a free kind
  const SliceKind* slowest = nullptr;
  double wait_finish = kNever;  // on a busy slice
  const SliceKind* wait_kind = nullptr;
  double on_time_kinds = 0;

  bool fits(const SliceKind& kind) const { return (job.fits >> kind.profile & 1U) != 0; }
  double time(const SliceKind& kind) const { return overhead + work * job.time[kind.size_index]; }
  bool on_time_on(const SliceKind& kind) const { return (on_time >> kind.size_index & 1U) != 0; }
};

JobFacts facts_of(const decide::View& view, const decide::ActiveJob& job, double fastest,
                  std::span<const SliceKind> kinds) {
  JobFacts facts{job};
  facts.overhead = static_cast<double>(job.overhead(view.now).count);
  facts.work = job.work_at(view.now);
  facts.fastest = fastest;
  facts.slack = static_cast<double>((job.deadline - view.now).count);
  facts.on_time = job.on_time_sizes(view.now);
  double slowest = -1;
  const SliceKind* first = nullptr;
  for (const SliceKind& kind : kinds) {
    if (!facts.fits(kind)) continue;
    const double time = facts.time(kind);
    facts.least_waste = std::min(facts.least_waste, kind.compute_slices * time);
    facts.on_time_kinds += facts.on_time_on(kind) ? 1.0 / static_cast<double>(kinds.size()) : 0;
    if (kind.next_free != Micros::max()) {
      const double until = std::max(0.0, static_cast<double>((kind.next_free - view.now).count));
      if (until + time < facts.wait_finish) {
        facts.wait_finish = until + time;
        facts.wait_kind = &kind;
      }
    }
    if (kind.free == 0) continue;
    if (time < facts.earliest) {
      facts.earliest = time;
      first = &kind;
    }
    if (facts.on_time_on(kind) && time > slowest) {
      slowest = time;
      facts.slowest = &kind;
    }
  }
  if (facts.slowest == nullptr) facts.slowest = first;
  return facts;
}

void write_job(const JobFacts& facts, Micros now, std::span<float> row) {
  const decide::ActiveJob& job = facts.job;
  const double length = std::max(1.0, facts.fastest);
  double best = kNever;
  for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
    best = std::min(best, job.time[i] * workload::kSliceSizes[i]);
  }
  row[kLength] = bounded(std::log(minutes(length)) / 2);
  row[kSlack] = bounded((facts.slack - facts.fastest) / length);
  row[kLost] = facts.on_time == 0 ? 1 : 0;
  row[kSpeedUp] = bounded(best / (job.fastest_time() * mig::kComputeSlicesMax));
  row[kOnTimeKinds] = bounded(facts.on_time_kinds);
  row[kAge] = bounded(signed_log(static_cast<double>((now - job.arrival).count) / length));
}

void write_pair(const JobFacts& facts, const SliceKind& kind, double whole, std::span<float> row) {
  const double time = facts.time(kind);
  const double size = kind.compute_slices / whole;
  row[kSize] = static_cast<float>(size);
  row[kOnTime] = facts.on_time_on(kind) ? 1 : 0;
  row[kTardiness] = bounded(std::log1p(minutes(std::max(0.0, time - facts.slack))));
  row[kTime] = bounded(std::log1p(minutes(time)));
  row[kWaste] = bounded(std::log(kind.compute_slices * time / facts.least_waste));
  row[kPower] = bounded(kind.added_watts);
  row[kEnergy] = bounded(std::log1p(kind.added_watts * minutes(time)));
  row[kKindFree] = static_cast<float>(kind.free) / static_cast<float>(kind.count);
  row[kSlowest] = facts.slowest == &kind ? 1 : 0;
  row[kLaterThanBest] = bounded(std::log1p(minutes(time - facts.earliest)));
}

void write_wait(const JobFacts& facts, const SliceKind& kind, double whole, std::span<float> row) {
  if (facts.wait_kind == nullptr) return;
  row[kWaitGain] = bounded(2 * signed_log(minutes(facts.time(kind) - facts.wait_finish)));
  row[kWaitOnTime] = facts.wait_finish <= facts.slack ? 1 : 0;
  row[kWaitSize] =
      static_cast<float>((facts.wait_kind->compute_slices - kind.compute_slices) / whole);
}

}  // namespace

void PlaceScene::begin() {
  taken_.clear();
  recent_ = 0;
  recent_at_ = Micros{};
}

double PlaceScene::rate(Micros now) const {
  const double passed = minutes(static_cast<double>((now - recent_at_).count));
  return recent_ * std::exp(-passed / kRateMinutes) / kRateMinutes;
}

void PlaceScene::job_arrived(Micros now) {
  recent_ = rate(now) * kRateMinutes + 1;
  recent_at_ = now;
}

bool PlaceScene::look(const decide::View& view) {
  const std::vector<mig::Profile>& profiles = view.cluster.model->profiles;
  kinds_.clear();
  kinds_.resize(profiles.size());
  running_ = false;
  taken_compute_.assign(view.cluster.gpu_count(), 0);
  for (const SliceId slice : taken_) {
    taken_compute_[cluster::gpu_of(slice).value] += view.cluster.slice(slice).compute_slices;
  }
  for (std::uint32_t i = 0; i < view.cluster.slices.size(); ++i) add_slice(view, i);
  bool any = false;
  for (std::size_t p = 0; p < profiles.size(); ++p) {
    kinds_[p].profile = static_cast<mig::ProfileIndex>(p);
    kinds_[p].compute_slices = profiles[p].compute_slices;
    any = any || kinds_[p].free > 0;
  }
  std::erase_if(kinds_, [](const SliceKind& kind) { return kind.count == 0; });
  return any;
}

void PlaceScene::add_slice(const decide::View& view, std::uint32_t index) {
  const cluster::Slice& slice = view.cluster.slices[index];
  if (!slice.exists()) return;
  const bool busy = slice.state == cluster::SliceState::kBusy;
  running_ = running_ || busy;
  if (slice.closing) return;
  SliceKind& kind = kinds_[slice.profile];
  kind.size_index = slice.size_index;
  ++kind.count;
  if (busy) {
    kind.next_free = std::min(kind.next_free, view.jobs[slice.job].finish);
    return;
  }
  const SliceId id{index};
  if (std::ranges::find(taken_, id) != taken_.end()) return;
  const std::uint32_t gpu = cluster::gpu_of(id).value;
  const auto used =
      static_cast<std::size_t>(view.cluster.gpus[gpu].busy_compute_slices) + taken_compute_[gpu];
  const std::vector<double>& watts = view.power.watts;
  const double range = std::max(1.0, watts.back() - watts.front());
  const double added = (watts[used + slice.compute_slices] - watts[used]) / range;
  if (kind.free == 0 || added < kind.added_watts) {
    kind.best = id;
    kind.added_watts = added;
  }
  ++kind.free;
}

void PlaceScene::take(SliceId slice) {
  taken_.push_back(slice);
}

void PlaceScene::list_pairs(const decide::View& view, std::span<const JobHandle> waiting) {
  rank(view, waiting);
  sum_up(view, waiting);
  pairs_.clear();
  features_.clear();
  for (std::size_t i = 0; i < ranked_.size(); ++i) add_pairs(view, i);
}

// The first kJobsLookedAt by modified due date (one job only without the choice of jobs), and where
// each of them stands by length.
void PlaceScene::rank(const decide::View& view, std::span<const JobHandle> waiting) {
  ranked_.clear();
  unsigned free = 0;
  for (const SliceKind& kind : kinds_) free |= kind.free > 0 ? 1U << kind.profile : 0U;
  for (const JobHandle handle : waiting) {
    const decide::ActiveJob& job = view.jobs[handle];
    if ((job.fits & free) == 0) continue;
    const double fastest = static_cast<double>(job.overhead(view.now).count) +
                           job.work_at(view.now) * job.fastest_time();
    const std::int64_t done = view.now.count + std::llround(fastest);
    ranked_.push_back({std::max(job.deadline.count, done), job.id, handle, fastest, 0});
  }
  const std::size_t most = rules_.has(PlacePiece::kJobs) ? kJobsLookedAt : 1;
  const auto end = ranked_.begin() + static_cast<std::ptrdiff_t>(std::min(most, ranked_.size()));
  std::partial_sort(ranked_.begin(), end, ranked_.end(), [](const Ranked& a, const Ranked& b) {
    return a.key != b.key ? a.key < b.key : a.id < b.id;
  });
  ranked_.erase(end, ranked_.end());
  for (Ranked& each : ranked_) {
    each.by_length = 0;
    for (const Ranked& other : ranked_) {
      const bool shorter =
          other.fastest != each.fastest ? other.fastest < each.fastest : other.id < each.id;
      each.by_length += shorter ? 1 : 0;
    }
  }
}

void PlaceScene::sum_up(const decide::View& view, std::span<const JobHandle> waiting) {
  rivals_.assign(kinds_.size(), 0);
  double work = 0;
  double lost = 0;
  for (const JobHandle handle : waiting) {
    const decide::ActiveJob& job = view.jobs[handle];
    const unsigned on_time = job.on_time_sizes(view.now);
    lost += on_time == 0 ? 1 : 0;
    work += job.work * job.fastest_time();
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      rivals_[k] += (on_time >> kinds_[k].size_index & 1U) != 0 ? 1.0F : 0.0F;
    }
  }
  double slices = 0;
  double compute = 0;
  double free = 0;
  double large = 0;
  double large_free = 0;
  for (const SliceKind& kind : kinds_) {
    slices += kind.count;
    compute += static_cast<double>(kind.count) * kind.compute_slices;
    free += static_cast<double>(kind.free) * kind.compute_slices;
    if (2 * kind.compute_slices < view.cluster.model->compute_slices) continue;
    large += kind.count;
    large_free += kind.free;
  }
  const double gpus = view.cluster.gpu_count();
  const auto count = static_cast<double>(waiting.size());
  fleet_[0] = bounded(std::log1p(count / slices));
  fleet_[1] = bounded(std::log1p(minutes(work) / gpus));
  fleet_[2] = bounded(lost / std::max(1.0, count));
  fleet_[3] = bounded(free / compute);
  fleet_[4] = bounded(large_free / std::max(1.0, large));
  fleet_[5] = bounded(rate(view.now) / gpus);
}

void PlaceScene::add_pairs(const decide::View& view, std::size_t rank) {
  const Ranked& entry = ranked_[rank];
  const JobFacts facts = facts_of(view, view.jobs[entry.job], entry.fastest, kinds_);
  const double whole = view.cluster.model->compute_slices;
  const auto by_rank = 1.0F / static_cast<float>(1 + rank);
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    const SliceKind& kind = kinds_[k];
    if (kind.free == 0 || !facts.fits(kind)) continue;
    const std::size_t at = features_.size();
    features_.resize(at + kPlaceFeatures, 0.0F);
    const auto row = std::span(features_).subspan(at, kPlaceFeatures);
    write_job(facts, view.now, row);
    row[kRankMdd] = by_rank;
    row[kRankShort] = 1.0F / static_cast<float>(1 + entry.by_length);
    write_pair(facts, kind, whole, row);
    row[kRivals] = bounded(std::log1p(static_cast<double>(rivals_[k]) / kind.free));
    if (rules_.has(PlacePiece::kForecast)) write_wait(facts, kind, whole, row);
    if (rules_.has(PlacePiece::kQueue)) std::ranges::copy(fleet_, row.begin() + kWaiting);
    // Modified due date with the slowest slice that is on time: the first job wins by more than the
    // slice counts, and every pair is better than waiting (0).
    const float rule = 0.25F + by_rank + (facts.slowest == &kind ? 0.25F : 0.0F);
    pairs_.push_back({entry.job, kind.best, rules_.has(PlacePiece::kRule) ? rule : 0.0F});
  }
}

}  // namespace partita::policies
