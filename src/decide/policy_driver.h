// PolicyDriver: when a scheduler and a repartitioner are told what happened, and when they are
// asked.
//
// There is one protocol, and this is it; the simulator, forecasts, training environments and the
// live controller all drive policies by it, so the same inputs give the same decisions. After
// begin() it is, at every instant at which something happens:
//   1. everything that happened, told as it happens: jobs done, withdrawn, returned, arrived;
//   2. repartition(): what cannot wait, then the layouts where it is the repartitioner's turn;
//   3. decide(): the scheduler, told before of slices that came, went, closed or reopened.
// Whoever drives it carries out what they answer. Nothing is allocated at an instant.
#pragma once

#include <cstdint>
#include <vector>

#include "decide/repartitioner.h"
#include "decide/scheduler.h"

namespace partita::decide {

class PolicyDriver {
 public:
  // Layouts never change where the repartitioner is null. REQUIRES: both outlive the driver.
  explicit PolicyDriver(Scheduler& scheduler, Repartitioner* repartitioner = nullptr)
      : scheduler_(scheduler), repartitioner_(repartitioner) {}

  // A run begins: no jobs; slices as in the view.
  void begin(const View& view);

  void job_arrived(const View& view, JobHandle job) {
    scheduler_.job_arrived(view, job);
    if (watches_) repartitioner_->job_arrived(view, job);
  }
  void job_done(const View& view, JobHandle job) { scheduler_.job_done(view, job); }
  // Its slice was taken from it, not by the scheduler, and it waits again.
  void job_stopped(const View& view, JobHandle job) { scheduler_.job_stopped(view, job); }
  // Around a change of what the scheduler reckons with: deadline, work left, what fits it.
  void withdraw(const View& view, JobHandle job) { scheduler_.job_withdrawn(view, job); }
  void put_back(const View& view, JobHandle job) { scheduler_.job_returned(view, job); }
  // The same as put_back() for a job that had begun and waits again, perhaps for a larger slice.
  void job_returned(const View& view, JobHandle job) {
    scheduler_.job_returned(view, job);
    if (watches_) repartitioner_->job_returned(view, job);
  }
  // A job that waited already when the driver began.
  void job_found(const View& view, JobHandle job) {
    scheduler_.job_arrived(view, job);
    if (watches_) repartitioner_->job_returned(view, job);
  }

  // When the repartitioner wants to be asked although nothing happens; Micros::max(): never.
  Micros next_timer() const { return next_timer_; }
  bool timer_due(Micros now) const { return now >= next_timer_; }
  // `events`: how many arrivals, completions and the like there were so far.
  bool turn_due(Micros now, std::uint64_t events) const {
    return timer_due(now) || (every_events_ > 0 && events - events_at_last_turn_ >= every_events_);
  }

  // What cannot wait for a turn. `follow(request)` takes each request, here and below.
  template <typename Follow>
  void relieve(const View& view, const Follow& follow) {
    if (!watches_) return;
    repartitioner_->relieve(view, requests_);
    hand_over(follow);
  }
  // The layouts. True when it was its timer that was due; that is then set anew.
  template <typename Follow>
  bool ask_for_layouts(const View& view, std::uint64_t events, const Follow& follow) {
    events_at_last_turn_ = events;
    repartitioner_->decide(view, requests_);
    hand_over(follow);
    if (!timer_due(view.now)) return false;
    set_timer(view.now);
    return true;
  }
  // Both as they are due; `before_turn()` is called before layouts are asked for.
  template <typename Follow, typename BeforeTurn>
  bool repartition(const View& view, std::uint64_t events, const Follow& follow,
                   const BeforeTurn& before_turn) {
    if (repartitioner_ == nullptr) return false;
    relieve(view, follow);
    if (!turn_due(view.now, events)) return false;
    before_turn();
    return ask_for_layouts(view, events, follow);
  }
  template <typename Follow>
  bool repartition(const View& view, std::uint64_t events, const Follow& follow) {
    return repartition(view, events, follow, [] {});
  }

  // Valid until the next call. `layouts_changed`: instances came, went, closed or reopened since
  // the last one, or jobs that were withdrawn left them.
  const Decision& decide(const View& view, bool layouts_changed) {
    if (layouts_changed) scheduler_.layout_changed(view);
    decision_.moves.clear();
    scheduler_.decide(view, decision_);
    return decision_;
  }

  // Sentences for the log on what policies did of their own accord since the last call.
  std::vector<std::string> take_notes();

 private:
  void set_timer(Micros now);
  template <typename Follow>
  void hand_over(const Follow& follow) {
    for (const LayoutRequest& request : requests_) follow(request);
    requests_.clear();
  }

  Scheduler& scheduler_;
  Repartitioner* repartitioner_;  // may be null
  bool watches_ = false;
  Micros next_timer_ = Micros::max();
  std::uint64_t every_events_ = 0;
  std::uint64_t events_at_last_turn_ = 0;
  std::vector<LayoutRequest> requests_;
  Decision decision_;
};

}  // namespace partita::decide
