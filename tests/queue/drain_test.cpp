#include "control/views/views.h"
#include "queue/queue_rig.h"

namespace partita::control {
namespace {

class Draining : public test::QueueRig {
 protected:
  Draining() : QueueRig(2) {}

  void drain(std::uint32_t gpu, const std::string& why) {
    EXPECT_EQ(step({DrainGpu{1, GpuId{gpu}, true, why}}).at(0).kind, Reply::Kind::kDone);
  }
  void resume(std::uint32_t gpu) {
    EXPECT_EQ(step({DrainGpu{1, GpuId{gpu}, false, ""}}).at(0).kind, Reply::Kind::kDone);
    step({inventories_[gpu]});
  }
  GpuView view(std::uint32_t gpu) {
    return gpu_views_of(*controller_, [](const Job&) { return true; }).at(gpu);
  }
};

TEST_F(Draining, NoJobStartsThereAndThoseThatRunGoOn) {
  const std::int64_t runs = add(spec());
  ASSERT_EQ(state(runs), "running");
  drain(0, "a new fan");
  EXPECT_EQ(view(0).state, "draining");
  EXPECT_EQ(view(0).why_unusable, "drained: a new fan");
  const std::int64_t second = add(spec());
  const std::int64_t third = add(spec());
  EXPECT_EQ(state(second), "running") << "on the other GPU";
  end(runs);
  EXPECT_EQ(view(0).state, "drained");
  EXPECT_EQ(state(third), "queued");
  EXPECT_TRUE(stopped_.empty());
  resume(0);
  EXPECT_EQ(view(0).state, "usable");
  EXPECT_EQ(state(third), "running");
}

// What stands for a GPU that takes no jobs has the handle of a job that ended.
TEST_F(Draining, NobodyIsChargedForIt) {
  options_.queue.fair_share = decide::FairOrder::kSliceSeconds;
  boot();
  const std::int64_t first = add(spec());
  const std::int64_t second = add(spec());
  end(first);
  end(second);
  const double before = controller_->users().at(0).total;
  drain(0, "");
  drain(1, "");
  const std::int64_t waits = add(spec());
  now_ += Micros::seconds(100);
  step({});
  ASSERT_EQ(state(waits), "queued");
  EXPECT_EQ(controller_->users().at(0).rate, 0);
  EXPECT_EQ(controller_->users().at(0).total, before);
}

TEST_F(Draining, StandsAfterARestartAndItsSlicesAreKept) {
  const std::int64_t runs = add(spec());
  drain(0, "a new fan");
  drain(1, "");
  boot();
  EXPECT_EQ(view(0).state, "draining");
  EXPECT_EQ(view(0).why_unusable, "drained: a new fan");
  EXPECT_EQ(view(1).state, "drained");
  EXPECT_EQ(state(runs), "running");
  end(runs);
  resume(0);
  resume(1);
  EXPECT_EQ(view(0).slices.size(), 1U);
  EXPECT_EQ(view(0).slices.at(0).uuid, "MIG-0");
  boot();
  EXPECT_EQ(view(0).state, "usable");
}

TEST_F(Draining, AGpuThatAnswersAgainStaysDrainedAndOneThatDoesNotStaysOut) {
  drain(0, "a new fan");
  step({GpuHealth{GpuId{0}, false, "no answer", false}});
  step({GpuHealth{GpuId{0}, true, "", false}});
  step({inventories_[0]});
  EXPECT_EQ(view(0).state, "drained");
  EXPECT_EQ(view(0).why_unusable, "drained: a new fan");
  step({GpuHealth{GpuId{0}, false, "no answer", false}});
  resume(0);
  EXPECT_EQ(view(0).state, "out");
  EXPECT_EQ(view(0).why_unusable, "no answer");
  step({GpuHealth{GpuId{0}, true, "", false}});
  step({inventories_[0]});
  EXPECT_EQ(view(0).state, "usable");
}

}  // namespace
}  // namespace partita::control
