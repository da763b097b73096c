// TurnBook: the transaction of one turn: what is to be written down, answered and done.
//
// Parts of the controller enter things as they decide them; finish() puts the rows together from
// the jobs as they are by then, so that a job that changed five times is written once.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/jobs/job_table.h"
#include "control/protocol.h"

namespace partita::control {

class TurnBook {
 public:
  void begin(Micros now);
  // Takes what was entered. The oldest of the ended jobs beyond `kept_max` are forgotten with it.
  Turn finish(JobTable& jobs, std::size_t kept_max);

  // Of all turns; the number of the next event.
  void set_next_event(std::int64_t next) { next_event_ = next; }

  void event(JobNumber job, std::string kind, std::string text);
  // Written down before the effect, and crossed out when its outcome is known.
  void intend(std::string kind, std::string subject);
  void met(std::string kind, std::string subject);
  void reply(Ticket ticket, Reply::Kind kind, std::vector<JobNumber> jobs, std::string message = {},
             std::vector<Refusal> refused = {});
  const std::vector<Reply>& replies() const { return turn_.replies; }
  template <typename Kind>
  void effect(Kind each) {
    turn_.effects.emplace_back(std::in_place_type<Kind>, std::move(each));
  }

  void add_new(const Job& job);
  void touch(const Job& job) { touched_.insert(job.id); }
  // Its present attempt.
  void touch_attempt(const Job& job) { touched_attempts_.emplace(job.id, job.attempts.size() - 1); }

  void write(store::InstanceRow row) { turn_.batch.instances.push_back(std::move(row)); }
  void drop(store::Place instance);
  void write(store::GpuRow row) { turn_.batch.gpus.push_back(std::move(row)); }
  void write(store::PeakRow row) { turn_.batch.peaks.push_back(std::move(row)); }

 private:
  Turn turn_;
  Micros now_;
  std::int64_t next_event_ = 1;
  std::set<JobNumber> new_jobs_;
  std::set<JobNumber> touched_;
  std::set<std::pair<JobNumber, std::size_t>> touched_attempts_;  // job, and which
};

}  // namespace partita::control
