// Guarded: a repartitioner that is followed only as long as that is safe and pays.
//
// It stands between any repartitioner and the cluster, and holds three guards over it:
//   reach    no request is followed that leaves a job, or the next of a kind that came within a
//            day, with no slice that could run it; and a job that has none gets one at once;
//   loss     when following has cost more than keeping the base layouts would have (LossWatch), by
//            more than a margin, the base layouts are restored and kept for a while, longer each
//            time; and no change is made whose cost to the work that is there, as far as it can be
//            foreseen, exceeds what is left of the margin;
//   trust    as long as the repartitioner says that it does not know what it sees, the base layouts
//            are kept.
// What the repartitioner wants meanwhile is remembered, and follows when the guards allow it. When
// it is left for the base layouts, and when it is followed again, there is a line for the log.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decide/repartitioner.h"
#include "policies/learned/familiarity.h"
#include "policies/repartitioners/loss_watch.h"
#include "policies/repartitioners/reach.h"

namespace partita::policies {

// As a user gives it: so many per cent, or more, and losses are not watched.
inline constexpr double kLossMaxPercent = 1000;
constexpr double loss_max_of(double percent) {
  return percent >= kLossMaxPercent ? -1 : percent / 100;
}

struct GuardOptions {
  std::vector<mig::Layout> base;  // one a GPU; empty: what the repartitioner begins with
  // Else the run begins with what the repartitioner does, losses are against keeping that, and the
  // base is what a guard falls back to when it trips.
  bool begins_with_base = true;
  std::vector<mig::Layout> relief;  // layouts that a GPU may get because a job fits no other
  double loss_max = 0.01;           // share of the base's ET; below 0: losses are not watched
  bool at_once = false;             // followed before losses can be known
  bool changes_often = false;       // see LossWatch
  std::function<Trust()> trust;     // what the repartitioner says of itself; empty: always yes
};

class Guarded : public decide::Repartitioner {
 public:
  Guarded(std::unique_ptr<decide::Repartitioner> inner, GuardOptions options);

  std::vector<mig::Layout> initial_layouts(const decide::View& view) override;
  std::optional<Micros> next_time(Micros now) const override { return inner_->next_time(now); }
  std::uint64_t every_events() const override;
  bool watches_arrivals() const override { return true; }
  bool needs_forecasts() const override { return inner_->needs_forecasts() || watches_loss(); }
  void job_arrived(const decide::View& view, cluster::JobHandle job) override;
  void job_returned(const decide::View& view, cluster::JobHandle job) override;
  void relieve(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override;
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override;
  std::string take_note() override;

  // How often it left the repartitioner for the base.
  std::uint64_t fallbacks() const { return fallbacks_; }

 private:
  using Requests = std::vector<decide::LayoutRequest>;

  bool watches_loss() const { return options_.loss_max >= 0; }
  bool tripped() const { return lost_ || trust_ == Trust::kNo; }
  bool fallen_back() const { return lost_ || trust_ != Trust::kYes; }
  const std::vector<mig::Layout>& goal() const {
    return tripped() ? base_ : fallen_back() ? start_ : wanted_;
  }
  void ask(const decide::View& view, const decide::LayoutRequest& request, Requests& requests);
  void look_at_loss(const decide::View& view);
  void look_at_trust(const decide::View& view);
  void fall_back(const decide::View& view, const std::string& why);
  void note(const decide::View& view, const std::string& text);
  // Takes note of what the inner one wants.
  void hear(const decide::View& view);
  // Asks for what is wanted, or for the base, as far as it strands nobody and can be afforded.
  // Takes no time where nothing differs.
  void follow(const decide::View& view, Requests& requests);
  void list_changes(const decide::View& view, const std::vector<mig::Layout>& goal);
  void drop_stranding(const decide::View& view);
  bool affordable(const decide::View& view) const;

  std::unique_ptr<decide::Repartitioner> inner_;
  GuardOptions options_;
  std::vector<mig::Layout> base_;
  std::vector<mig::Layout> start_;    // what the run began with
  std::vector<mig::Layout> wanted_;   // by GPU: by the inner one
  std::vector<mig::Layout> targets_;  // by GPU: what was asked for
  LossWatch loss_;
  Reach reach_;
  bool look_again_ = true;            // a job may have no slice to wait for
  std::uint64_t layouts_looked_ = 0;  // version of the layouts when that was last looked at
  bool lost_ = false;
  Trust trust_ = Trust::kYes;
  Micros retry_;  // not before then, after a loss
  Micros pause_;  // the next one
  std::uint64_t fallbacks_ = 0;
  std::string note_;
  std::optional<Standing> standing_;                     // when it was last looked at
  const std::vector<mig::Layout>* last_goal_ = nullptr;  // at the last turn
  std::vector<std::uint32_t> differing_;                 // GPUs that may not have what they should
  Requests heard_;
  Requests changes_;
};

}  // namespace partita::policies
