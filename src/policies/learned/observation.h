// FleetObservation: what a learned repartitioner sees of a fleet and its jobs, as numbers that do
// not depend on the size of the fleet. Training and decisions use this same code.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "decide/view.h"
#include "policies/learned/fleet_mix.h"

namespace partita::policies {

enum class Encoding : std::uint8_t {
  // SMART-MIG (IPDPS 2026): time of day, mix of layouts, and histograms of slack and of the times
  // on small, medium and large slices, each summing to 1. How many jobs there are is not seen.
  kMeanField,
  // Jobs and work for each GPU, by how well they scale and how long they are; what is late; the
  // rate of arrivals; time of day; mix of layouts.
  kMeanFieldPlus,
};

// At most so many jobs are all looked at for a decision. Of more, the next few are, and what was
// seen of the others at the decisions before is remembered: decisions come every few events, so a
// whole round over the jobs takes place while few of them come or go.
inline constexpr std::uint32_t kJobsAll = 64;
inline constexpr std::uint32_t kJobsOfMany = 32;

// "mean-field/1": the name with the version that model files have.
std::string encoding_name(Encoding encoding);
Result<Encoding> encoding_named(std::string_view name);

// A rate that forgets: arrivals a minute, weighed by their age.
class FadingRate {
 public:
  explicit FadingRate(Micros memory) : memory_(memory) {}
  void add(Micros now);
  double per_minute(Micros now) const;
  void clear() { *this = FadingRate(memory_); }

 private:
  Micros memory_;
  Micros last_;
  double weight_ = 0;
};

inline constexpr std::size_t kLoadSums = 21;  // what is added up over jobs

// Means over the jobs present, from a few of them at a time.
class JobSweep {
 public:
  // Looks at the next jobs. Exact where they are all; else a mean that forgets at the pace of one
  // round over all.
  void look(const decide::View& view);
  double mean(std::size_t feature) const { return means_[feature]; }
  void clear() { *this = JobSweep(); }

 private:
  std::uint32_t next_ = 0;
  double looks_ = 0;  // since there were jobs, at most as many as a round takes
  std::array<double, kLoadSums> means_{};
};

class FleetObservation {
 public:
  FleetObservation(Encoding encoding, std::size_t layouts);

  std::size_t size() const;
  void begin();
  void job_arrived(Micros now);
  // For the decision at view.now. REQUIRES: out.size() == size(). Takes no longer with more jobs or
  // GPUs (kMeanFieldPlus), or linear in the jobs (kMeanField).
  void write(const decide::View& view, const FleetMix& mix, std::span<float> out);

 private:
  void write_histograms(const decide::View& view, const FleetMix& mix, std::span<float> out) const;
  void write_loads(const decide::View& view, const FleetMix& mix, std::span<float> out);

  Encoding encoding_;
  std::size_t layouts_;
  FadingRate fast_{Micros::seconds(600)};
  FadingRate slow_{Micros::seconds(3600)};
  JobSweep sweep_;
};

}  // namespace partita::policies
