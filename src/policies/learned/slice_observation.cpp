#include "policies/learned/slice_observation.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace partita::policies {
namespace {

constexpr double kTimeScale = 100;    // minutes
constexpr double kQueueScale = 100;   // jobs
constexpr double kSlackLeast = 0.01;  // minutes
constexpr double kWholeGpu = mig::kComputeSlicesMax;

// Minutes on small, medium and large slices. A size the job may not use counts as the other of its
// pair, and as the slowest bin when neither can be used.
std::array<double, 3> lengths_of(const decide::ActiveJob& job) {
  const auto mean = [](double a, double b) {
    if (std::isinf(a)) return b;
    return std::isinf(b) ? a : (a + b) / 2;
  };
  return {mean(job.time[0], job.time[1]) / kMicrosPerMinute,
          mean(job.time[2], job.time[3]) / kMicrosPerMinute, job.time[4] / kMicrosPerMinute};
}

float scaled(double minutes) {
  return static_cast<float>(std::min(minutes, 1e6) / kTimeScale);
}

double slack_minutes(const decide::View& view, const decide::ActiveJob& job) {
  return static_cast<double>((job.deadline - view.now).count) / kMicrosPerMinute;
}

}  // namespace

void SliceObservation::rebuild(const cluster::ClusterState& cluster) {
  slices_.clear();
  for (std::uint32_t i = 0; i < cluster.slices.size(); ++i) {
    const cluster::Slice& slice = cluster.slices[i];
    if (slice.exists() && !slice.closing) slices_.push_back(SliceId{i});
  }
  taken_.assign(slices_.size(), 0);
}

std::string SliceObservation::sizes_text(const cluster::ClusterState& cluster) {
  SliceObservation all;
  all.rebuild(cluster);
  std::string text;
  for (const SliceId id : all.slices_) {
    text += text.empty() ? "" : ",";
    text += std::to_string(cluster.slice(id).compute_slices);
  }
  return text;
}

void SliceObservation::count(const decide::ActiveJob& job, int by) {
  const std::array<double, kLengths> lengths = lengths_of(job);
  for (std::size_t i = 0; i < kLengths; ++i) lengths_[i][bin_of(lengths[i])] += by;
}

std::uint16_t SliceObservation::free_profiles(const decide::View& view, std::size_t width) const {
  unsigned free = 0;
  for (std::size_t i = 0; i < std::min(width, slices_.size()); ++i) {
    if (open(view.cluster, i)) free |= 1U << view.cluster.slice(slices_[i]).profile;
  }
  return static_cast<std::uint16_t>(free);
}

void SliceObservation::mark_allowed(const decide::View& view, const decide::ActiveJob& job,
                                    std::span<std::uint8_t> allowed) const {
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    allowed[i] = 0;
    if (i >= slices_.size()) continue;
    const unsigned fits = job.fits >> view.cluster.slice(slices_[i]).profile & 1U;
    allowed[i] = fits != 0 && open(view.cluster, i) ? 1 : 0;
  }
}

void SliceObservation::write(const decide::View& view, std::span<const JobHandle> waiting,
                             const decide::ActiveJob& next, std::size_t width,
                             std::span<float> out) const {
  CHECK(out.size() == slice_observation_size(width));
  const double slack = slack_minutes(view, next);
  const std::array<double, kLengths> lengths = lengths_of(next);
  out[0] = static_cast<float>(slack / kTimeScale);
  for (std::size_t i = 0; i < kLengths; ++i) out[1 + i] = scaled(lengths[i]);
  const double fastest = next.fastest_time() / kMicrosPerMinute;
  out[4] = static_cast<float>(std::min(1.0, fastest / std::max(slack, kSlackLeast)));
  std::array<std::int32_t, kBins> slacks{};
  for (const JobHandle job : waiting) ++slacks[bin_of(slack_minutes(view, view.jobs[job]))];
  const float share = 1.0F / static_cast<float>(std::max<std::size_t>(1, waiting.size()));
  for (std::size_t b = 0; b < kBins; ++b) {
    out[5 + b] = share * static_cast<float>(slacks[b]);
    for (std::size_t i = 0; i < kLengths; ++i) {
      out[5 + kBins * (i + 1) + b] = share * static_cast<float>(lengths_[i][b]);
    }
  }
  write_slices(view, width, out.subspan(5 + 4 * kBins));
  out[out.size() - 3] = static_cast<float>(static_cast<double>(waiting.size()) / kQueueScale);
}

void SliceObservation::write_slices(const decide::View& view, std::size_t width,
                                    std::span<float> out) const {
  std::size_t free = 0;
  int largest = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const bool there = i < slices_.size();
    const int size = there ? view.cluster.slice(slices_[i]).compute_slices : 0;
    const bool is_open = there && open(view.cluster, i);
    out[i] = is_open ? 0 : 1;
    out[width + i] = static_cast<float>(size / kWholeGpu);
    free += is_open ? 1 : 0;
    largest = is_open ? std::max(largest, size) : largest;
  }
  out[2 * width + 1] = static_cast<float>(free) / static_cast<float>(width);
  out[2 * width + 2] = static_cast<float>(largest / kWholeGpu);
}

}  // namespace partita::policies
