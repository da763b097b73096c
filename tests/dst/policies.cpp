// The policies of the simulated world: which a seed draws, and what makes them.
#include <array>

#include "dst/world.h"
#include "policies/registry.h"
#include "sim/view_rollout.h"

namespace partita::dst {
namespace {

struct PolicyPair {
  const char* scheduler;
  const char* repartition;
};
// Asks for any layout at any time; what policies may do, it does. In the end it settles for whole
// GPUs, which hold every job.
class Fickle : public decide::Repartitioner {
 public:
  Fickle(mig::GpuModel model, std::uint64_t seed) : model_(std::move(model)), rng_(seed, 3) {}

  std::vector<mig::Layout> initial_layouts(const decide::View& view) override {
    std::vector<mig::Layout> layouts;
    for (std::size_t i = 0; i < view.cluster.gpus.size(); ++i) layouts.push_back(any());
    return layouts;
  }
  std::optional<Micros> next_time(Micros now) const override { return now + Micros::seconds(20); }
  std::uint64_t every_events() const override { return 6; }
  void decide(const decide::View& view, std::vector<decide::LayoutRequest>& requests) override {
    const auto gpu = static_cast<std::uint32_t>(rng_.below(view.cluster.gpus.size()));
    requests.push_back({GpuId{gpu}, any()});
  }

 private:
  mig::Layout any() {
    constexpr int kWhole = 1;
    constexpr int kWhims = 60;
    if (++asked_ > kWhims) return *mig::numbered_layout(model_, kWhole);
    const auto count = static_cast<std::uint64_t>(mig::numbered_layouts_count(model_));
    return *mig::numbered_layout(model_, static_cast<int>(rng_.below(count)) + 1);
  }

  mig::GpuModel model_;
  Rng rng_;
  int asked_ = 0;
};

constexpr std::array<PolicyPair, 7> kPolicies{{{"fifo+tightest", "migm-b"},
                                               {"fifo+tightest", "migm-a"},
                                               {"fifo+requested", "ondemand"},
                                               {"edf-ss", "static:2"},
                                               {"mdd", "static:9"},
                                               {"fifo", "none"},
                                               {"fifo", "fickle"}}};

// Under the rule that looks ahead: orders and placements that take any slice that fits.
constexpr std::array<const char*, 4> kForesighted{"mdd+slowest", "fifo", "edf-ss", "cedf"};
// Where jobs that run may be moved: orders that do so for several reasons, on layouts that stay and
// that change.
constexpr std::array<PolicyPair, 8> kMoving{{{"mdd", "static:2"},
                                             {"mdd", "static:9"},
                                             {"mdd+slowest", "fickle"},
                                             {"edf-ss", "static:2"},
                                             {"fifo", "fickle"},
                                             {"cedf", "static:5"},
                                             {"mdd", "lookahead"},
                                             {"fifo+tightest", "migm-b"}}};
constexpr const char* kLookahead =
    "lookahead:start=1,every=4,rest=0,horizon=120,screen=60,budget_us=2000,evidence=1000,"
    "loss_max=1000";

// Counts what it is asked.
class Counted : public sim::ViewRollout {
 public:
  Counted(std::unique_ptr<decide::Scheduler> scheduler, std::uint64_t& asked)
      : ViewRollout(std::move(scheduler), {.waiting_max = 12, .arrivals_max = 12}), asked_(asked) {}

  decide::ForecastCost forecast(const decide::ForecastQuestion& question) override {
    ++asked_;
    return ViewRollout::forecast(question);
  }

 private:
  std::uint64_t& asked_;
};

}  // namespace

void World::draw_policy() {
  const auto& catalogue = mig::catalogue();
  model_ = catalogue[rng_.below(catalogue.size())];
  gpu_count_ = static_cast<std::uint32_t>(1 + rng_.below(3));
  const bool seven = model_->compute_slices == 7;
  const PolicyPair& policy = kPolicies[rng_.below(kPolicies.size())];
  scheduler_ = policy.scheduler;
  repartition_ = seven ? policy.repartition : "migm-b";
  if (!seven) scheduler_ = "fifo+tightest";
  if (rule_ == Rule::kLookahead) {
    scheduler_ = kForesighted[policy_rng_.below(kForesighted.size())];
    repartition_ = kLookahead;
  }
  if (rule_ == Rule::kPays && seven) {
    const PolicyPair& moving = kMoving[policy_rng_.below(kMoving.size())];
    scheduler_ = moving.scheduler;
    repartition_ = moving.repartition == std::string("lookahead") ? kLookahead : moving.repartition;
  }
  for (const mig::Profile& profile : model_->profiles) {
    const bool halves = repartition_ == "static:2" || repartition_ == "static:5";
    const int slices = halves ? 4 : repartition_ == "static:9" ? 2 : 8;
    if (profile.memory_slices <= slices) most_gib_ = std::max(most_gib_, profile.memory_gib);
  }
}

// Other rules at every start: what users had follows from the attempts, whatever held then.
void World::draw_queue_rules(control::Options& options) {
  constexpr std::array kOrders{decide::FairOrder::kOff, decide::FairOrder::kPriority,
                               decide::FairOrder::kSliceSeconds, decide::FairOrder::kJoules};
  options.queue.fair_share = kOrders[policy_rng_.below(kOrders.size())];
  if (policy_rng_.below(4) > 0) {
    options.queue.reserve_after = micros_from_seconds(policy_rng_.uniform(0, 60));
  }
  options.queue.half_life = micros_from_seconds(policy_rng_.uniform(10, 1000));
  if (policy_rng_.below(2) == 0) options.queue.weights = {{"1001", policy_rng_.uniform(0.1, 5)}};
  if (policy_rng_.below(2) == 0) {
    options.preemption = {decide::Preemption::Mode::kPays, Micros{1'500'000}};
  }
}

launch::Owner World::owner_of(const std::string& key) const {
  if (rule_ != Rule::kShared) return {1000, 1000};
  const auto user = static_cast<std::uint32_t>(std::hash<std::string>{}(key) % 4);
  return {1000 + user, 1000};
}

// Slices are worth a fight, and some are lost by those that were told to be longer than they are.
void World::draw_hurry(control::JobSpec& spec) {
  spec.deadline.reset();
  if (policy_rng_.below(4) > 0) spec.times.back() = micros_from_seconds(policy_rng_.uniform(1, 60));
  if (policy_rng_.below(3) > 0) {
    spec.deadline = now_ + micros_from_seconds(policy_rng_.uniform(5, 200));
  }
  spec.checkpoint.clear();
  if (policy_rng_.below(4) > 0) spec.checkpoint = {"save"};
}

Result<control::Policies> World::make_policies(const control::Beginning& beginning) {
  const auto slash = beginning.policy.find('/');
  const auto make_scheduler = [&] {
    return policies::make_scheduler(beginning.policy.substr(0, slash), beginning.seed);
  };
  const auto one_more = [name = beginning.policy.substr(0, slash), seed = beginning.seed] {
    return *policies::make_scheduler(name, seed);
  };
  auto scheduler = make_scheduler();
  const std::string rule = beginning.policy.substr(slash + 1);
  if (rule == "fickle") {
    control::Policies fickle{*std::move(scheduler),
                             std::make_unique<Fickle>(beginning.model, beginning.seed), nullptr};
    fickle.make_scheduler = one_more;
    return fickle;
  }
  auto repartitioner = policies::make_repartitioner(
      rule, beginning.model, static_cast<std::uint32_t>(beginning.gpus.size()));
  CHECK(scheduler.ok() && repartitioner.ok());
  control::Policies pair{*std::move(scheduler), *std::move(repartitioner), nullptr};
  pair.make_scheduler = one_more;
  if (!pair.repartitioner->needs_forecasts()) return pair;
  pair.forecaster = std::make_unique<Counted>(*make_scheduler(), forecasts_);
  return pair;
}

}  // namespace partita::dst
