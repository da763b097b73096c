// Requested: only a slice of the profiles the job asks for; it waits for one of those.
#pragma once

#include <utility>

#include "policies/request.h"
#include "policies/schedulers/free_slices.h"
#include "policies/slice_rule.h"

namespace partita::policies {

// What the dynamic MIG drivers do: a pod names a profile and gets exactly that. And what MIGM does:
// a job gets the tightest slice that holds it, and a larger one stays whole for others.
class Requested : public SliceRule {
 public:
  // Of the slices asked for it takes the first in the order of preference.
  Requested(AskedProfiles asked, SlicePreference before)
      : asked_(asked), before_(std::move(before)) {}

  void rebuild(const decide::View& view) override;
  void free_all() override { free_.free_all(); }
  void release(SliceId slice) override { free_.release(slice); }
  void occupy(SliceId slice) override { free_.take(free_.rank_of(slice)); }
  SliceId claim(const Candidate& candidate) override;
  bool may_wait() const override { return true; }
  std::uint16_t free_profiles() const override { return free_.free_profiles(); }

 private:
  AskedProfiles asked_;
  SlicePreference before_;
  const mig::GpuModel* model_ = nullptr;
  FreeSlices free_;
};

}  // namespace partita::policies
