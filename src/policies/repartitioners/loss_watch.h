// LossWatch: whether changing layouts has paid, against never having changed them.
//
// Two runs are simulated beside the real one, with the jobs that really came: one keeps the base
// layouts, one has the layouts that were really asked for. Jobs take the same in both, what they
// were said to or what such jobs have been seen to take, so what differs between them is what the
// changes did, and nothing else. Of a large fleet a part is watched with its share of the jobs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decide/repartitioner.h"

namespace partita::policies {

// How things stand: ET if no more jobs came, and what a joule and a tardy second count in it.
struct Standing {
  double ours = 0;
  double base = 0;
  double per_joule = 0;
  double per_tardy_second = 0;

  double loss() const { return ours / base - 1; }
};

class LossWatch {
 public:
  // One layout a GPU. `taken_back`: what is judged is what it would come to if all changes were
  // taken back now; else, if the layouts stayed as they are. The first is for who follows the
  // backlog from minute to minute: where its layouts stand now says nothing of where they will.
  explicit LossWatch(std::vector<mig::Layout> base, bool taken_back = false);

  // Forgets everything; the watch begins again when it is next asked.
  void begin();
  void job_arrived(const decide::ActiveJob& job);
  // Layouts that were asked for in reality. REQUIRES: in order of time.
  void asked(Micros now, std::span<const decide::LayoutRequest> requests);

  // Whether enough has happened since it was last asked to be worth its cost, and it can be.
  bool due(const decide::View& view) const;
  // ET since the watch began with the changes that were asked for and with none, the present work
  // run to its end on both sides; nothing while too few jobs have come to say. A joule counts as in
  // a day of such hours, or in the whole stretch when it is longer.
  std::optional<Standing> standing(const decide::View& view);
  // More than it can afford to simulate: nothing is said then, and the watch begins anew after it.
  bool too_many_jobs(const decide::View& view) const {
    return view.jobs.size() > kJobsMax * stride_;
  }
  // What asking for these layouts now would add to ET, with no further arrival.
  double added_by(const decide::View& view, const Standing& standing,
                  std::span<const decide::LayoutRequest> requests) const;

  static constexpr std::size_t kFleet = 16;                 // GPUs it simulates
  static constexpr std::size_t kJobsMax = 2'000;            // there at once, for so many GPUs
  static constexpr std::uint64_t kJobsMin = 20;             // to say anything
  static constexpr std::uint64_t kJobsBetween = 20;         // it is due after so many jobs, or
  static constexpr Micros kBetween = Micros::seconds(600);  // after so long with any
  // A real cluster drifts away from its simulation; after so long both runs begin anew from it.
  static constexpr Micros kStretch = Micros::seconds(7 * 86'400);

 private:
  void start(const decide::View& view);
  // The GPUs of a question about these requests; empty: all.
  std::vector<GpuId> asked_about(std::span<const decide::LayoutRequest> requests) const;

  std::vector<mig::Layout> base_;
  bool taken_back_;
  std::vector<GpuId> seen_;             // ascending; empty: all
  std::vector<mig::Layout> base_seen_;  // of these, or of all
  std::unique_ptr<decide::WhatIfRun> unchanged_;
  std::unique_ptr<decide::WhatIfRun> as_asked_;
  Micros began_;
  Micros looked_;
  std::uint64_t stride_ = 1;
  std::uint64_t jobs_ = 0;  // since it began
  std::uint64_t jobs_at_look_ = 0;
  std::uint64_t jobs_there_ = 0;  // when it began
};

}  // namespace partita::policies
