#include "queue/queue_rig.h"

namespace partita::control {
namespace {

class Priorities : public test::QueueRig {
 protected:
  static JobSpec ranked(std::int64_t priority) {
    JobSpec made = spec();
    made.priority = priority;
    return made;
  }
};

TEST_F(Priorities, WhereUsersShareJobsOfAHigherOneGoFirst) {
  options_.queue.fair_share = decide::FairOrder::kPriority;
  boot();
  const std::int64_t first = add(spec());
  const std::int64_t low = add(ranked(-5));
  const std::int64_t plain = add(spec());
  const std::int64_t high = add(ranked(7));
  end(first);
  EXPECT_EQ(state(high), "running");
  boot();
  end(high);
  EXPECT_EQ(state(plain), "running") << "after a restart too";
  end(plain);
  EXPECT_EQ(state(low), "running");
}

TEST_F(Priorities, OfAnArrayWithALimitDoNotMixTheOrder) {
  JobSpec wish = ranked(-5);
  wish.array_limit = 1;
  submit(wish, 3);
  end(1);
  EXPECT_EQ(state(2), "running");
  EXPECT_EQ(state(3), "queued");
}

}  // namespace
}  // namespace partita::control
