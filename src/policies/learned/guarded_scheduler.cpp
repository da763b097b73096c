#include "policies/learned/guarded_scheduler.h"

#include "base/check.h"
#include "policies/guard_note.h"

namespace partita::policies {

GuardedScheduler::GuardedScheduler(nn::Model model, PlaceRules rules,
                                   std::unique_ptr<decide::Scheduler> base)
    : model_(std::move(model)),
      rules_(std::move(rules)),
      trained_(model_, rules_),
      base_(std::move(base)),
      in_charge_(base_.get()),
      familiarity_(model_),
      scene_(rules_) {
  CHECK(base_ != nullptr && familiarity_.recorded());
}

Status GuardedScheduler::accepts(const decide::View& view) const {
  if (const Status base = base_->accepts(view); !base) return base;
  return trained_.accepts(view);
}

void GuardedScheduler::set_known(JobHandle job, bool known) {
  if (job.value >= known_.size()) known_.resize(std::size_t{job.value} * 2 + 16, 0);
  known_[job.value] = known ? 1 : 0;
}

void GuardedScheduler::begin(const decide::View& view) {
  known_.clear();
  familiarity_.begin(view);
  scene_.begin();
  decisions_ = 0;
  strange_ = false;
  in_charge_ = base_.get();
  in_charge_->begin(view);
}

void GuardedScheduler::job_arrived(const decide::View& view, JobHandle job) {
  scene_.job_arrived(view.now);
  familiarity_.job_arrived(view.jobs[job]);
  set_known(job, true);
  in_charge_->job_arrived(view, job);
}

void GuardedScheduler::job_stopped(const decide::View& view, JobHandle job) {
  in_charge_->job_stopped(view, job);
}

void GuardedScheduler::job_done(const decide::View& view, JobHandle job) {
  set_known(job, false);
  in_charge_->job_done(view, job);
}

void GuardedScheduler::job_withdrawn(const decide::View& view, JobHandle job) {
  set_known(job, false);
  in_charge_->job_withdrawn(view, job);
}

void GuardedScheduler::job_returned(const decide::View& view, JobHandle job) {
  set_known(job, true);
  in_charge_->job_returned(view, job);
}

void GuardedScheduler::layout_changed(const decide::View& view) {
  in_charge_->layout_changed(view);
}

// What the trained one would see if it decided now, in charge or not.
void GuardedScheduler::look(const decide::View& view) {
  waiting_.clear();
  for (std::uint32_t i = 0; i < known_.size(); ++i) {
    const JobHandle job{i};
    if (known_[i] != 0 && !view.jobs[job].running()) waiting_.push_back(job);
  }
  scene_.clear_taken();
  if (waiting_.empty() || !scene_.look(view)) return;
  scene_.list_pairs(view, waiting_);
  double far = 0;
  scene_.each_row([&](auto row) { far += familiarity_.far_outside(row) ? 1 : 0; });
  const std::size_t pairs = scene_.pairs().size();
  if (pairs > 0) familiarity_.add_look(far / static_cast<double>(pairs));
}

void GuardedScheduler::hand_over(const decide::View& view) {
  in_charge_ = follows_model() ? base_.get() : &trained_;
  in_charge_->begin(view);
  for (std::uint32_t i = 0; i < known_.size(); ++i) {
    if (known_[i] != 0) in_charge_->job_returned(view, JobHandle{i});
  }
}

// Where nobody reads the log before the end of the run, the first is what is read.
void GuardedScheduler::note_changes(const decide::View& view) {
  const Trust trust = familiarity_.trust();
  const bool strange = trust == Trust::kNo || (strange_ && trust == Trust::kUnknown);
  if (std::exchange(strange_, strange) == strange || !note_.empty()) return;
  note_ = guard_note(view.now,
                     strange ? "the model sees what it was not trained on; modified due date "
                               "places the jobs"
                             : "the model sees what it was trained on; it places the jobs again");
}

void GuardedScheduler::decide(const decide::View& view, decide::Decision& decision) {
  const bool due = decisions_++ % kDecisionsPerLook == 0;
  if (due || familiarity_.trust() == Trust::kUnknown) look(view);
  if ((familiarity_.trust() == Trust::kYes) != follows_model()) hand_over(view);
  note_changes(view);
  in_charge_->decide(view, decision);
}

}  // namespace partita::policies
