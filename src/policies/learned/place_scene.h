// PlaceScene: the pairs of a waiting job and a kind of slice that could be joined now, each as a
// row of numbers that a network scores.
//
// A kind is a profile, so the number of pairs does not grow with the number of slices, and nothing
// depends on how slices or jobs are numbered: one network fits every fleet and every GPU model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decide/view.h"
#include "nn/floats.h"
#include "policies/learned/place_rules.h"

namespace partita::policies {

using cluster::JobHandle;
using cluster::SliceId;

// The instances of one profile.
struct SliceKind {
  mig::ProfileIndex profile = 0;
  std::uint8_t size_index = 0;
  int compute_slices = 0;
  std::uint32_t count = 0;
  std::uint32_t free = 0;
  SliceId best;                      // the free one that adds least power; ties to the lower GPU
  double added_watts = 0;            // what it adds, as a share of the range of the GPU's power
  Micros next_free = Micros::max();  // of the busy ones
};

struct PlacePair {
  JobHandle job;
  SliceId slice;
  float rule = 0;  // what the rule that the network corrects would say
};

enum PlaceFeature : std::uint8_t {
  // of the job
  kLength,       // logarithm of its minutes on the fastest size
  kSlack,        // minutes to spare there, in units of that time
  kLost,         // it is late on every size
  kSpeedUp,      // 1: as fast as the slice is large
  kOnTimeKinds,  // share of the kinds of the fleet on which it is still on time
  kAge,          // time since its arrival, in units of its length
  kRankMdd,      // 1 for the first by modified due date, then 1/2, 1/3, ...
  kRankShort,    // the same by length
  // of the pair
  kSize,  // share of the GPU
  kOnTime,
  kTardiness,      // minutes, logarithm
  kTime,           // minutes, logarithm
  kWaste,          // slices times minutes, against the kind that wastes least, logarithm
  kPower,          // watts added, share of the GPU's range
  kEnergy,         // the same times minutes, logarithm
  kKindFree,       // share of the slices of the kind that are free
  kSlowest,        // the slowest free kind that is on time, else the earliest to finish
  kLaterThanBest,  // minutes after the earliest finish on a free slice, logarithm
  kRivals,         // waiting jobs that would be on time on this kind, for each free one
  // of waiting for a busy slice
  kWaitGain,    // minutes by which it would finish earlier there, signed logarithm
  kWaitOnTime,  // it would be on time there
  kWaitSize,    // share of the GPU of that slice, less that of this one
  // of the fleet
  kWaiting,      // jobs for each slice
  kWaitingWork,  // minutes of whole GPUs for each GPU, logarithm
  kWaitingLost,  // share of jobs late on every size
  kFree,         // share of compute slices
  kFreeLarge,    // share of the slices of at least half a GPU that are free
  kRate,         // arrivals of the last minutes, for each GPU and minute
  kPlaceFeatures,
};

class PlaceScene {
 public:
  explicit PlaceScene(const PlaceRules& rules) : rules_(rules) {}

  void begin();
  void job_arrived(Micros now);

  // A decision begins: looks at the slices. False when none is free. Linear in the fleet.
  bool look(const decide::View& view);
  // What was taken in the last decision has been carried out.
  void clear_taken() { taken_.clear(); }
  // The slice is taken in this decision; look again before the next pairs.
  void take(SliceId slice);
  bool anything_runs() const { return running_ || !taken_.empty(); }

  // The pairs of at most kJobsLookedAt of the waiting jobs, in order of modified due date.
  void list_pairs(const decide::View& view, std::span<const JobHandle> waiting);
  std::span<const PlacePair> pairs() const { return pairs_; }
  const nn::Floats& features() const { return features_; }
  // Calls with the numbers of each pair.
  template <typename Visit>
  void each_row(const Visit& visit) const {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      visit(std::span<const float>(features_).subspan(i * kPlaceFeatures, kPlaceFeatures));
    }
  }

  static constexpr std::size_t kJobsLookedAt = 24;

 private:
  struct Ranked {
    std::int64_t key = 0;
    JobId id;
    JobHandle job;
    double fastest = 0;  // microseconds left there, with any overhead
    std::uint32_t by_length = 0;
  };
  void add_slice(const decide::View& view, std::uint32_t index);
  void rank(const decide::View& view, std::span<const JobHandle> waiting);
  void sum_up(const decide::View& view, std::span<const JobHandle> waiting);
  void add_pairs(const decide::View& view, std::size_t rank);
  void write_fleet(std::span<float> row) const;
  double rate(Micros now) const;

  const PlaceRules& rules_;
  std::vector<SliceKind> kinds_;
  std::vector<SliceId> taken_;
  std::vector<std::uint8_t> taken_compute_;  // by GPU, of the slices taken
  bool running_ = false;
  std::vector<Ranked> ranked_;
  std::vector<std::uint32_t> lengths_;
  std::vector<float> rivals_;  // by kind
  std::vector<PlacePair> pairs_;
  nn::Floats features_;
  float fleet_[6] = {};
  double recent_ = 0;  // arrivals, fading
  Micros recent_at_;
};

}  // namespace partita::policies
