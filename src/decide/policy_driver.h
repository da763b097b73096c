// PolicyDriver: when a scheduler and a repartitioner are told what happened, and when they are
// asked.
//
// There is one protocol, and this is it; the simulator, forecasts, training environments and the
// live controller all drive policies by it, so the same inputs give the same decisions. After
// begin() it is, at every instant at which something happens:
//   1. everything that happened, told as it happens: jobs done, withdrawn, returned, arrived;
//   2. repartition(): what cannot wait, then the layouts where it is the repartitioner's turn, then
//      those that reservations need;
//   3. decide(): jobs start whose reserved place is ready; then the scheduler, told before of
//      slices that came, went, closed or reopened; then jobs that fit beside reservations.
// Whoever drives it carries out what they answer. Nothing is allocated at an instant, unless there
// are reservations or books of usage.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "decide/repartitioner.h"
#include "decide/reservations.h"
#include "decide/scheduler.h"
#include "decide/usage_books.h"

namespace partita::decide {

class PolicyDriver {
 public:
  // Layouts never change where the repartitioner is null. REQUIRES: both outlive the driver.
  explicit PolicyDriver(Scheduler& scheduler, Repartitioner* repartitioner = nullptr)
      : scheduler_(scheduler), repartitioner_(repartitioner) {}

  // Before begin(). Both may be null, and outlive the driver: `reservations` bound how long a job
  // is passed over; `books` note who uses what.
  void use(Reservations* reservations, UsageBooks* books) {
    reservations_ = reservations;
    books_ = books;
  }

  // A run begins: no jobs; slices as in the view.
  void begin(const View& view);

  void job_arrived(const View& view, JobHandle job) {
    if (reservations_ != nullptr) reservations_->waits(view, job);
    scheduler_.job_arrived(view, job);
    if (watches_) repartitioner_->job_arrived(view, job);
  }
  void job_done(const View& view, JobHandle job) {
    if (reservations_ != nullptr && unhide(view, job)) return;
    scheduler_.job_done(view, job);
  }
  // Its slice was taken from it, not by the scheduler, and it waits again.
  void job_stopped(const View& view, JobHandle job) {
    if (reservations_ == nullptr) return scheduler_.job_stopped(view, job);
    reservations_->waits(view, job);
    if (unhide(view, job)) return scheduler_.job_arrived(view, job);
    scheduler_.job_stopped(view, job);
  }
  // Around a change of what the scheduler reckons with: deadline, work left, what fits it. Or the
  // job leaves for good.
  void withdraw(const View& view, JobHandle job) {
    if (reservations_ != nullptr && withdrawn(view, job)) return;
    scheduler_.job_withdrawn(view, job);
  }
  void put_back(const View& view, JobHandle job) {
    if (reservations_ != nullptr && came_back(view, job)) return;
    scheduler_.job_returned(view, job);
  }
  // The same as put_back() for a job that had begun and waits again, perhaps for a larger slice.
  void job_returned(const View& view, JobHandle job) {
    put_back(view, job);
    if (watches_) repartitioner_->job_returned(view, job);
  }
  // A job that waited already when the driver began.
  void job_found(const View& view, JobHandle job) {
    if (reservations_ != nullptr) reservations_->waits(view, job);
    scheduler_.job_arrived(view, job);
    if (watches_) repartitioner_->job_returned(view, job);
  }

  // When something is to be decided although nothing happens; Micros::max(): never.
  Micros next_timer() const {
    return reservations_ == nullptr ? next_turn_ : std::min(next_turn_, reservations_->next_time());
  }
  bool timer_due(Micros now) const { return now >= next_timer(); }
  // `events`: how many arrivals, completions and the like there were so far.
  bool turn_due(Micros now, std::uint64_t events) const {
    return now >= next_turn_ ||
           (every_events_ > 0 && events - events_at_last_turn_ >= every_events_);
  }

  // What cannot wait for a turn. `follow(request)` takes each request, here and below.
  template <typename Follow>
  void relieve(const View& view, const Follow& follow) {
    if (!watches_) return;
    repartitioner_->relieve(view, requests_);
    hand_over(view, follow);
  }
  // The layouts. True when it was the repartitioner's timer that was due; that is then set anew.
  template <typename Follow>
  bool ask_for_layouts(const View& view, std::uint64_t events, const Follow& follow) {
    events_at_last_turn_ = events;
    repartitioner_->decide(view, requests_);
    hand_over(view, follow);
    if (view.now < next_turn_) return false;
    set_timer(view.now);
    return true;
  }
  // The layouts that reserved places need.
  template <typename Follow>
  void reserve(const View& view, const Follow& follow) {
    if (reservations_ == nullptr) return;
    reservations_->plan(view, requests_);
    for (const LayoutRequest& request : requests_) follow(request);
    requests_.clear();
  }
  // All three as they are due; `before_turn()` is called before layouts are asked for.
  template <typename Follow, typename BeforeTurn>
  bool repartition(const View& view, std::uint64_t events, const Follow& follow,
                   const BeforeTurn& before_turn) {
    bool timer = false;
    if (repartitioner_ != nullptr) {
      relieve(view, follow);
      if (turn_due(view.now, events)) {
        before_turn();
        timer = ask_for_layouts(view, events, follow);
      }
    }
    reserve(view, follow);
    return timer;
  }
  template <typename Follow>
  bool repartition(const View& view, std::uint64_t events, const Follow& follow) {
    return repartition(view, events, follow, [] {});
  }

  // Valid until the next call. `layouts_changed`: instances came, went, closed or reopened since
  // the last one, or jobs that were withdrawn left them.
  const Decision& decide(const View& view, bool layouts_changed) {
    if (reservations_ != nullptr || books_ != nullptr)
      return decide_by_rules(view, layouts_changed);
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
  void hand_over(const View& view, const Follow& follow) {
    for (LayoutRequest& request : requests_) {
      if (reservations_ != nullptr) reservations_->adapt(view, request);
      follow(request);
    }
    requests_.clear();
  }
  const Decision& decide_by_rules(const View& view, bool layouts_changed);
  void ask_scheduler(const View& view, bool layouts_changed);
  // The three are for jobs that a reservation started, of which the scheduler does not know: true
  // when it is not to be told.
  bool unhide(const View& view, JobHandle job);
  bool withdrawn(const View& view, JobHandle job);
  bool came_back(const View& view, JobHandle job);

  Scheduler& scheduler_;
  Repartitioner* repartitioner_;          // may be null
  Reservations* reservations_ = nullptr;  // may be null
  UsageBooks* books_ = nullptr;           // may be null
  bool watches_ = false;
  bool restricted_ = false;  // what the scheduler was shown at the last decision
  Micros next_turn_ = Micros::max();
  std::uint64_t every_events_ = 0;
  std::uint64_t events_at_last_turn_ = 0;
  std::vector<LayoutRequest> requests_;
  Decision decision_;
  std::vector<Move> own_moves_;  // of reservations
};

}  // namespace partita::decide
