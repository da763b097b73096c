// GuardedScheduler: a trained scheduler that is followed only where it knows what it sees; else
// modified due date with the slowest slice places the jobs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decide/scheduler.h"
#include "policies/learned/familiarity.h"
#include "policies/learned/place_scheduler.h"

namespace partita::policies {

// One of the two is in charge and is told of everything; when the other takes over it is told of
// all jobs as if it began. So who is in charge costs nothing, and a change one pass over the jobs.
class GuardedScheduler : public decide::Scheduler {
 public:
  // REQUIRES: the rules are those of the model, which is of the encoding kPlus and has a record.
  GuardedScheduler(nn::Model model, PlaceRules rules, std::unique_ptr<decide::Scheduler> base);
  GuardedScheduler(const GuardedScheduler&) = delete;
  GuardedScheduler& operator=(const GuardedScheduler&) = delete;

  Status accepts(const decide::View& view) const override;
  void begin(const decide::View& view) override;
  void job_arrived(const decide::View& view, JobHandle job) override;
  void job_stopped(const decide::View& view, JobHandle job) override;
  void job_done(const decide::View& view, JobHandle job) override;
  void job_withdrawn(const decide::View& view, JobHandle job) override;
  void job_returned(const decide::View& view, JobHandle job) override;
  void layout_changed(const decide::View& view) override;
  void decide(const decide::View& view, decide::Decision& decision) override;

  std::string take_note() override { return std::exchange(note_, {}); }

  bool follows_model() const { return in_charge_ == &trained_; }

  // Decisions between two looks, once it has looked often enough to say.
  static constexpr std::uint64_t kDecisionsPerLook = 8;

 private:
  void look(const decide::View& view);
  void hand_over(const decide::View& view);
  void note_changes(const decide::View& view);
  void set_known(JobHandle job, bool known);

  nn::Model model_;
  PlaceRules rules_;
  PlaceScheduler trained_;
  std::unique_ptr<decide::Scheduler> base_;
  decide::Scheduler* in_charge_ = nullptr;
  Familiarity familiarity_;
  PlaceScene scene_;
  std::uint64_t decisions_ = 0;
  std::string note_;
  bool strange_ = false;  // what it sees, as the log has it
  std::vector<JobHandle> waiting_;
  std::vector<char> known_;  // by handle: told of it and not of its end; not all jobs need be ours
};

}  // namespace partita::policies
