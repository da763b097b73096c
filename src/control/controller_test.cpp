#include "control/controller.h"

#include <gtest/gtest.h>

#include <utility>

namespace partita::control {
namespace {

// Policies that do nothing, and say at a pass what they are told to say.
struct Says {
  std::string layouts;
  std::string jobs;
};

class Still : public decide::Repartitioner {
 public:
  explicit Still(Says& says) : says_(says) {}
  std::vector<mig::Layout> initial_layouts(const decide::View& view) override {
    return {*mig::numbered_layout(*view.cluster.model, 1)};
  }
  std::optional<Micros> next_time(Micros now) const override { return now + Micros::seconds(1); }
  void decide(const decide::View&, std::vector<decide::LayoutRequest>&) override {}
  std::string take_note() override { return std::exchange(says_.layouts, {}); }

 private:
  Says& says_;
};

class Idle : public decide::Scheduler {
 public:
  explicit Idle(Says& says) : says_(says) {}
  void begin(const decide::View&) override {}
  void job_arrived(const decide::View&, cluster::JobHandle) override {}
  void job_stopped(const decide::View&, cluster::JobHandle) override {}
  void job_done(const decide::View&, cluster::JobHandle) override {}
  void job_withdrawn(const decide::View&, cluster::JobHandle) override {}
  void job_returned(const decide::View&, cluster::JobHandle) override {}
  void layout_changed(const decide::View&) override {}
  void decide(const decide::View&, decide::Decision&) override {}
  std::string take_note() override { return std::exchange(says_.jobs, {}); }

 private:
  Says& says_;
};

class Notes : public testing::TestWithParam<bool> {};

// Events of no job are what the daemon writes to its log.
TEST_P(Notes, OfPoliciesAreLoggedOnceEach) {
  Says says;
  Options options;
  options.shadow = GetParam();
  Controller controller(options, **mig::find_gpu("a100-40gb"), {{"GPU-0", "A100", GpuId{0}}},
                        std::make_unique<Idle>(says), std::make_unique<Still>(says));
  ASSERT_TRUE(controller.restore(Micros{1}, {}, {}, {}).ok());
  std::int64_t second = 0;
  const auto logged = [&] {
    std::vector<std::string> lines;
    for (const store::EventRow& event :
         controller.step(Micros::seconds(second += 2), {}).batch.events) {
      if (event.kind == "guard" && event.job == 0) lines.push_back(event.text);
    }
    return lines;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(logged(), Lines{});
  says.layouts = "keeping the base layouts";
  EXPECT_EQ(logged(), Lines{"keeping the base layouts"});
  EXPECT_EQ(logged(), Lines{});
  says = {"the base layouts are left again", "modified due date places the jobs"};
  EXPECT_EQ(logged(),
            (Lines{"the base layouts are left again", "modified due date places the jobs"}));
  EXPECT_EQ(logged(), Lines{});
}

INSTANTIATE_TEST_SUITE_P(LiveAndShadow, Notes, testing::Bool());

}  // namespace
}  // namespace partita::control
