// FairQueue: any scheduler, with higher priorities first and then the users below their share.
//
// Every user has a queue of their own for each priority, and for each queue there is a scheduler of
// the kind that was chosen. At a decision the queues are asked in order, one start each at a time
// where several want what is idle; each sees the idle slices and the jobs of its own that run, so
// that no job is interrupted for another user's. Before them come jobs of users below their share
// that would miss their deadline if they waited for the next slice.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decide/usage_books.h"

namespace partita::decide {

// As flags spell them.
std::string_view name_of(FairOrder order);

class FairQueue : public Scheduler {
 public:
  using Make = std::function<std::unique_ptr<Scheduler>()>;

  // How many of a user's jobs with the nearest deadlines are looked at in one decision.
  static constexpr int kUrgentLooksMax = 16;

  // Each call of `make` gives one more scheduler of the same kind. REQUIRES: the books outlive it,
  // and are settled before every decision by who drives it (PolicyDriver does).
  FairQueue(Make make, UsageBooks& books);

  Status accepts(const View& view) const override;
  void begin(const View& view) override;
  void job_arrived(const View& view, JobHandle job) override;
  void job_stopped(const View& view, JobHandle job) override;
  void job_done(const View& view, JobHandle job) override;
  void job_withdrawn(const View& view, JobHandle job) override;
  void job_returned(const View& view, JobHandle job) override;
  void layout_changed(const View&) override {}  // every queue looks at the slices when it is asked
  std::string take_note() override;
  void decide(const View& view, Decision& decision) override;

 private:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

  struct Queue {
    UsageBooks::Group group = 0;
    std::unique_ptr<Scheduler> scheduler;
    std::size_t waiting = 0;
    std::size_t running = 0;
    // By the last instant at which they can start and be on time, the jobs that wait.
    std::set<std::pair<std::int64_t, std::uint32_t>> latest;
    std::array<std::uint32_t, mig::kProfilesMax>
        fitting{};  // by profile: waiting jobs that it fits
  };
  struct Entry {
    std::uint32_t queue = kNone;
    std::int64_t latest = 0;
    std::uint16_t fits = 0;
    bool waits = false;
    bool told = true;  // its scheduler knows of it
  };

  Entry& entry(JobHandle job);
  Queue& queue_of(const View& view, JobHandle job);
  void enter(const View& view, JobHandle job);
  void leave(JobHandle job);
  void forget_untold(JobHandle job);
  void tell_started(const View& view);

  void look_at_slices(const View& view);
  void serve_class(const View& view, std::span<const std::uint32_t> queues, Decision& decision);
  // Whether an idle slice fits a job of the queue.
  bool finds_idle(const Queue& queue) const;
  // Asks the scheduler of the queue; true when it started a job on an idle slice and others of the
  // class may want the next.
  bool serve(const View& view, std::uint32_t queue, bool all, Decision& decision);
  void show_to(std::uint32_t queue);
  void share_out_idle(const View& view, std::span<const std::uint32_t> queues);
  void start_urgent(const View& view, std::uint32_t queue, Decision& decision);
  SliceId urgent_slice(const View& view, const ActiveJob& job) const;
  void apply(const View& view, const Move& move);

  Make make_;
  UsageBooks& books_;
  std::unique_ptr<Scheduler> first_;            // for what is asked before there are jobs
  std::vector<Queue> queues_;                   // by group
  std::vector<Entry> entries_;                  // by handle
  std::vector<JobHandle> untold_;               // started here; their schedulers are to be told
  std::vector<std::uint32_t> order_;            // queues with something to decide
  std::vector<std::uint32_t> left_;             // of a class, still to be asked
  std::vector<char> asked_;                     // by queue
  std::optional<cluster::ClusterState> state_;  // with what this decision has done so far
  std::optional<cluster::ClusterState> shown_;  // the same as one queue sees it
  std::vector<std::uint32_t> queue_on_;         // by slice: of the job on it; kNone: closed to all
  std::vector<std::uint32_t> given_;            // by slice: who may use it, where all is shared out
  std::array<Micros, mig::kProfilesMax> free_at_{};  // by profile: when the next one is free
  Decision inner_;
};

}  // namespace partita::decide
