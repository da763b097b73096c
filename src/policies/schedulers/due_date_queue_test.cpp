#include "policies/schedulers/due_date_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/rng.h"
#include "policies/test_support.h"

namespace partita::policies {
namespace {

const mig::GpuModel& model() {
  return **mig::find_gpu("a100-40gb");
}

// The queue as its first sentence describes it.
class Brute {
 public:
  explicit Brute(const ProfilesBySize& profiles) : profiles_(profiles) {}

  std::map<std::uint32_t, decide::ActiveJob> jobs;

  std::vector<JobHandle> in_order(Micros now, std::uint16_t offered) const {
    std::vector<std::pair<std::pair<std::int64_t, std::uint32_t>, JobHandle>> found;
    for (const auto& [handle, job] : jobs) {
      const unsigned sizes = profiles_.sizes_of(offered & job.fits);
      if (sizes == 0) continue;
      std::int64_t key = std::numeric_limits<std::int64_t>::max();
      for (std::size_t size = 0; size < workload::kSliceSizeCount; ++size) {
        if ((sizes >> size & 1U) == 0) continue;
        const std::int64_t done =
            now.count + job.restart.count + std::llround(job.work * job.time[size]);
        key = std::min(key, std::max(job.deadline.count, done));
      }
      found.push_back({{key, job.id.value}, JobHandle{handle}});
    }
    std::ranges::sort(found);
    std::vector<JobHandle> order;
    for (const auto& each : found) order.push_back(each.second);
    return order;
  }

 private:
  const ProfilesBySize& profiles_;
};

decide::ActiveJob random_job(Rng& rng, std::uint32_t id, Micros now) {
  workload::Job job;
  const auto base = static_cast<std::int64_t>(1 + rng.below(200));
  for (std::size_t i = 0; i < job.time.size(); ++i) {
    const bool none = rng.below(6) == 0 && i + 1 < job.time.size();
    const auto wobble = static_cast<std::int64_t>(rng.below(3) == 0 ? rng.below(40) : 0);
    job.time[i] =
        none ? workload::kNoTime : Micros{base * 8 / static_cast<std::int64_t>(i + 1) + wobble + 1};
  }
  job.arrival = now;
  job.deadline = now + Micros{static_cast<std::int64_t>(rng.below(600))};
  job.memory_gib = static_cast<float>(rng.below(4)) * 6;
  const cluster::ProfileFits fits(model());
  decide::ActiveJob active = decide::make_active(job, JobId{id}, fits(job));
  if (rng.below(4) == 0) active.restart = Micros{static_cast<std::int64_t>(rng.below(90))};
  if (rng.below(4) == 0) active.work = rng.uniform(0.01, 1);
  return active;
}

TEST(DueDateQueue, GivesWhatSortingAllKeysGivesWhateverIsOffered) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const ProfilesBySize profiles(model());
    Brute brute(profiles);
    DueDateQueue queue;
    queue.begin(model());
    Micros now;
    std::uint32_t next = 0;
    for (int step = 0; step < 400; ++step) {
      now += Micros{static_cast<std::int64_t>(rng.below(12))};
      if (rng.below(3) > 0) {
        const decide::ActiveJob job = random_job(rng, next, now);
        brute.jobs.emplace(next, job);
        queue.insert(JobHandle{next++}, job);
      } else if (!brute.jobs.empty()) {
        auto gone = brute.jobs.begin();
        std::advance(gone, static_cast<std::ptrdiff_t>(rng.below(brute.jobs.size())));
        queue.erase(JobHandle{gone->first});
        brute.jobs.erase(gone);
      }
      const auto offered =
          static_cast<std::uint16_t>(rng.below(std::uint64_t{1} << model().profiles.size()));
      const std::vector<JobHandle> order = brute.in_order(now, offered);
      ASSERT_EQ(queue.empty(), brute.jobs.empty());
      ASSERT_EQ(queue.first(now, offered), order.empty() ? JobHandle{} : order.front());
      std::vector<JobHandle> listed;
      const std::size_t count = rng.below(12);
      queue.list(now, offered, count, listed);
      ASSERT_EQ(listed, std::vector<JobHandle>(order.begin(),
                                               order.begin() + static_cast<std::ptrdiff_t>(
                                                                   std::min(count, order.size()))))
          << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace partita::policies
