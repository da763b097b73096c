// RandomSlice: any free slice that fits, each as likely (SMART-MIG's Random).
#pragma once

#include "base/rng.h"
#include "policies/schedulers/free_slices.h"
#include "policies/slice_rule.h"

namespace partita::policies {

class RandomSlice : public SliceRule {
 public:
  explicit RandomSlice(std::uint64_t seed) : rng_(seed) {}

  void rebuild(const decide::View& view) override;
  void free_all() override { free_.free_all(); }
  void release(SliceId slice) override { free_.release(slice); }
  void occupy(SliceId slice) override { free_.take(free_.rank_of(slice)); }
  SliceId claim(const Candidate& candidate) override;
  std::uint16_t free_profiles() const override { return free_.free_profiles(); }

 private:
  Rng rng_;
  FreeSlices free_;
};

}  // namespace partita::policies
