// Requested: only a slice of the one profile the job asks for; it waits for that.
#pragma once

#include "policies/free_slices.h"
#include "policies/slice_rule.h"

namespace partita::policies {

// What the dynamic MIG drivers do: a pod names a profile and gets exactly that.
class Requested : public SliceRule {
 public:
  void rebuild(const decide::View& view) override;
  void free_all() override { free_.free_all(); }
  void release(SliceId slice) override { free_.release(slice); }
  SliceId claim(const Candidate& candidate) override;
  std::uint16_t free_profiles() const override { return free_.free_profiles(); }

 private:
  const mig::GpuModel* model_ = nullptr;
  FreeSlices free_;
};

}  // namespace partita::policies
