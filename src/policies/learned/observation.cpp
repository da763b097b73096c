#include "policies/learned/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "base/named.h"
#include "policies/learned/time_bins.h"

namespace partita::policies {
namespace {

constexpr std::int64_t kDayMicros = 86'400'000'000;

struct Row {
  Encoding encoding;
  std::string_view name;
};
constexpr std::array<Row, 2> kRows{{
    {Encoding::kMeanField, "mean-field/1"},
    {Encoding::kMeanFieldPlus, "mean-field+/1"},
}};

double part_of_day(Micros now) {
  return static_cast<double>(now.count % kDayMicros) / static_cast<double>(kDayMicros);
}

// ---- the paper's histograms

constexpr std::size_t kHistograms = 4;

// Mean of the finite ones of two times; infinite when neither is.
double mean_time(double a, double b) {
  if (std::isinf(a)) return b;
  return std::isinf(b) ? a : (a + b) / 2;
}

// ---- loads

// How many of the sizes' worth a job gains on the whole GPU: 1 scales perfectly.
constexpr std::array<double, 2> kEfficiencyEdges{0.55, 0.75};
constexpr std::array<double, 3> kLengthEdges{0.5, 2, 8};  // minutes left on the fastest slice
constexpr std::size_t kKinds = (kEfficiencyEdges.size() + 1) * (kLengthEdges.size() + 1);
constexpr double kLongMinutes = 3;

enum LoadFeature : std::uint8_t {
  kJobs,
  kJobsLog,
  kWaitingJobs,
  kWorkAtBest,     // minutes of whole GPUs if every job ran where it wastes least
  kWorkAtFastest,  // and where it is fastest
  kLong,
  kLate,
  kLateness,  // minutes, of jobs that will be late even if they go on at their fastest
  kTight,     // on time on the fastest size only
  kFirstKind,
  kRateFast = kFirstKind + kKinds,
  kRateSlow,
  kDaySin,
  kDayCos,
  kHalfDaySin,
  kHalfDayCos,
  kLoadFeatures,
};
static_assert(kRateFast == kLoadSums);

template <std::size_t N>
std::size_t class_of(double value, const std::array<double, N>& edges) {
  std::size_t index = 0;
  while (index < N && value >= edges[index]) ++index;
  return index;
}

void add_job(const decide::ActiveJob& job, Micros now, std::span<double, kLoadSums> sums) {
  double best = std::numeric_limits<double>::infinity();  // slice-microseconds
  double fastest = best;
  for (std::size_t i = 0; i < workload::kSliceSizeCount; ++i) {
    best = std::min(best, job.time[i] * workload::kSliceSizes[i]);
    fastest = std::min(fastest, job.time[i]);
  }
  const double work = job.work_at(now);
  const double left_minutes = work * fastest / kMicrosPerMinute;
  const double whole = mig::kComputeSlicesMax;
  const double efficiency = best / (fastest * whole);
  sums[kJobs] += 1;
  sums[kWaitingJobs] += job.running() ? 0 : 1;
  sums[kWorkAtBest] += work * best / whole / kMicrosPerMinute;
  sums[kWorkAtFastest] += left_minutes;
  sums[kLong] += left_minutes > kLongMinutes ? 1 : 0;
  const double lateness =
      static_cast<double>((now - job.deadline).count) / kMicrosPerMinute + left_minutes;
  sums[kLate] += lateness > 0 ? 1 : 0;
  sums[kLateness] += std::max(0.0, lateness);
  sums[kTight] += std::has_single_bit(unsigned{job.on_time_sizes(now)}) ? 1 : 0;
  const std::size_t kind = class_of(efficiency, kEfficiencyEdges) * (kLengthEdges.size() + 1) +
                           class_of(left_minutes, kLengthEdges);
  sums[kFirstKind + kind] += 1;
}

// Asks for the jobs of the next decision now, so that it does not wait for memory.
void fetch_ahead(const decide::View& view, std::uint32_t from, std::uint32_t end) {
  if (end <= kJobsAll) return;
  const std::uint32_t to = std::min(end, from + kJobsOfMany);
  for (std::uint32_t i = from; i < to; ++i) {
    const auto* job = reinterpret_cast<const char*>(&view.jobs[cluster::JobHandle{i}]);
    __builtin_prefetch(job);
    __builtin_prefetch(job + sizeof(decide::ActiveJob) / 2);
  }
}

}  // namespace

std::string encoding_name(Encoding encoding) {
  for (const Row& row : kRows) {
    if (row.encoding == encoding) return std::string(row.name);
  }
  CHECK(false);
}

Result<Encoding> encoding_named(std::string_view name) {
  const auto row = find_named("encoding of a learned repartitioner", name, kRows, &Row::name);
  if (!row) return row.error();
  return (*row)->encoding;
}

void FadingRate::add(Micros now) {
  weight_ = weight_ * std::exp(-(now - last_).to_seconds() / memory_.to_seconds()) + 1;
  last_ = now;
}

double FadingRate::per_minute(Micros now) const {
  return weight_ * std::exp(-(now - last_).to_seconds() / memory_.to_seconds()) /
         memory_.to_minutes();
}

void JobSweep::look(const decide::View& view) {
  const std::uint32_t end = view.jobs.handles_end();
  std::array<double, kLoadSums> sums{};
  if (next_ >= end) next_ = 0;
  const std::uint32_t looks = end <= kJobsAll ? end : kJobsOfMany;
  for (std::uint32_t i = 0; i < looks; ++i) {
    const cluster::JobHandle handle{next_};
    if (view.jobs.present(handle)) add_job(view.jobs[handle], view.now, sums);
    next_ = next_ + 1 < end ? next_ + 1 : 0;
  }
  fetch_ahead(view, next_, end);
  if (sums[kJobs] == 0) {
    if (view.jobs.size() == 0) clear();
    return;
  }
  const double round = static_cast<double>(view.jobs.size()) / sums[kJobs];
  looks_ = std::min(looks_ + 1, std::max(1.0, round));
  for (std::size_t i = 0; i < kLoadSums; ++i) {
    means_[i] += (sums[i] / sums[kJobs] - means_[i]) / looks_;
  }
}

FleetObservation::FleetObservation(Encoding encoding, std::size_t layouts)
    : encoding_(encoding), layouts_(layouts) {}

std::size_t FleetObservation::size() const {
  const std::size_t own =
      encoding_ == Encoding::kMeanField ? 1 + kHistograms * kBins : std::size_t{kLoadFeatures};
  return own + layouts_;
}

void FleetObservation::begin() {
  fast_.clear();
  slow_.clear();
  sweep_.clear();
}

void FleetObservation::job_arrived(Micros now) {
  fast_.add(now);
  slow_.add(now);
}

void FleetObservation::write(const decide::View& view, const FleetMix& mix, std::span<float> out) {
  CHECK(out.size() == size() && mix.layout_count() == layouts_);
  for (std::size_t i = 0; i < layouts_; ++i) {
    out[i] = static_cast<float>(mix.count(i)) / static_cast<float>(mix.gpus());
  }
  const std::span<float> rest = out.subspan(layouts_);
  if (encoding_ == Encoding::kMeanField) {
    write_histograms(view, mix, rest);
  } else {
    write_loads(view, mix, rest);
  }
}

void FleetObservation::write_histograms(const decide::View& view, const FleetMix&,
                                        std::span<float> out) const {
  std::ranges::fill(out, 0.0F);
  out[0] = static_cast<float>(part_of_day(view.now));
  if (view.jobs.size() == 0) return;
  const float share = 1.0F / static_cast<float>(view.jobs.size());
  for (std::uint32_t i = 0; i < view.jobs.handles_end(); ++i) {
    const cluster::JobHandle handle{i};
    if (!view.jobs.present(handle)) continue;
    const decide::ActiveJob& job = view.jobs[handle];
    const double work = job.work_at(view.now) / kMicrosPerMinute;
    const std::array<double, kHistograms> minutes{
        (job.deadline - view.now).to_minutes(), work * mean_time(job.time[0], job.time[1]),
        work * mean_time(job.time[2], job.time[3]), work * job.time[4]};
    for (std::size_t h = 0; h < kHistograms; ++h) out[1 + h * kBins + bin_of(minutes[h])] += share;
  }
}

void FleetObservation::write_loads(const decide::View& view, const FleetMix& mix,
                                   std::span<float> out) {
  sweep_.look(view);
  std::array<double, kLoadFeatures> loads{};
  const double gpus = mix.gpus();
  const double jobs = static_cast<double>(view.jobs.size()) / gpus;
  for (std::size_t i = 0; i < kLoadSums; ++i) loads[i] = sweep_.mean(i) * jobs;
  loads[kJobsLog] = std::log1p(loads[kJobs]);
  loads[kRateFast] = fast_.per_minute(view.now) / gpus;
  loads[kRateSlow] = slow_.per_minute(view.now) / gpus;
  const double angle = 2 * std::numbers::pi * part_of_day(view.now);
  loads[kDaySin] = std::sin(angle);
  loads[kDayCos] = std::cos(angle);
  loads[kHalfDaySin] = std::sin(2 * angle);
  loads[kHalfDayCos] = std::cos(2 * angle);
  for (std::size_t i = 0; i < loads.size(); ++i) out[i] = static_cast<float>(loads[i]);
}

}  // namespace partita::policies
