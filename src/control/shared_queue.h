// SharedQueue: what users of the daemon agree on, around whatever policy: whose turn it is, and how
// long a job may be passed over.
//
// The rules and their code are those of the simulator (decide/queue_rules.h). Who used how much is
// not stored: attempts are, and what was used follows from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "control/fleet.h"
#include "control/jobs/job_table.h"
#include "decide/fair_queue.h"
#include "decide/reservations.h"

namespace partita::control {

// How one user stands.
struct UserShare {
  std::uint32_t uid = 0;
  double weight = 1;
  double usage = 0;  // decayed, in slice-seconds or joules
  double total = 0;  // not decayed, as far as attempts are kept
  double rate = 0;   // slices held now, or watts
  double level = 0;  // what was held on average of late, in shares: 1 is just theirs
};

class SharedQueue {
 public:
  // `weights` of the rules are by uid. REQUIRES: all outlive it; `make` where users share.
  SharedQueue(const decide::QueueRules& rules, const JobTable& jobs, const Fleet& fleet,
              decide::Scheduler& scheduler, const decide::FairQueue::Make& make);
  SharedQueue(const SharedQueue&) = delete;
  SharedQueue& operator=(const SharedQueue&) = delete;

  // The one to drive: the policy's own, or all users' schedulers behind one.
  decide::Scheduler& scheduler() { return fair_ ? *fair_ : scheduler_; }
  decide::Reservations* reservations() { return reservations_ ? &*reservations_ : nullptr; }
  const decide::Reservations* reservations() const {
    return reservations_ ? &*reservations_ : nullptr;
  }
  decide::UsageBooks* books() { return books_ ? &*books_ : nullptr; }

  // What the attempts in the table used until now.
  void read_usage(const mig::GpuModel& model, Micros now);

  decide::FairOrder order() const { return rules_.fair_share; }
  // Those who ever used anything or have jobs, by uid. Empty where users do not share.
  std::vector<UserShare> users(Micros now) const;

 private:
  std::optional<decide::Owner> owner_of(cluster::JobHandle handle);
  decide::UserIndex user_of(std::uint32_t uid);

  const decide::QueueRules& rules_;
  const JobTable& jobs_;
  decide::Scheduler& scheduler_;
  std::map<std::uint32_t, decide::UserIndex> users_;  // by uid, in order of first sight
  std::optional<decide::UsageBooks> books_;
  std::optional<decide::FairQueue> fair_;
  std::optional<decide::Reservations> reservations_;
};

}  // namespace partita::control
