// MIGM (Saraha et al. 2025): batches packed by memory on one A100, against one job at a time.
#include "experiment/studies/studies.h"

namespace partita::experiment {
namespace {

using Kind = Claim::Kind;

constexpr const char* kReference = "one at a time";

// The time of a restarted program until its first step (calibration, H200): 5.1 to 6.5 s.
constexpr Micros kRestart = Micros::seconds(5);

StudyPolicy scheme(const std::string& name, const std::string& repartition, bool early) {
  StudyPolicy policy{name, "fifo+tightest", repartition};
  policy.memory = sim::MemoryRules{kRestart, {}};
  if (early) policy.memory->early_restart = decide::EarlyRestart{};
  return policy;
}

// `static_mix` is the best layout of all on days to tune on (docs/concepts/evidence.md); empty
// where no layout but the whole GPU holds every job.
StudySetting batch_setting(const std::string& name, const workload::MigmOptions& options,
                           const std::string& static_mix) {
  StudySetting setting;
  setting.name = name;
  setting.days = migm_days(options);
  setting.gpus = 1;
  setting.preemption.mode = decide::Preemption::Mode::kNone;
  setting.cost = sim::RepartitionCost::kMeasured;
  setting.memory.restart = kRestart;
  setting.policies = {{kReference, "fifo+largest", "none"}};
  if (!static_mix.empty()) setting.policies.push_back({"static", "fifo+fastest", static_mix});
  setting.policies.push_back({"on demand", "fifo+requested", "ondemand:least-fragmenting"});
  setting.policies.push_back(scheme("scheme A", "migm-a", false));
  setting.policies.push_back(scheme("scheme B", "migm-b", false));
  if (options.mix == "llm") {
    setting.policies.push_back(scheme("scheme A, early", "migm-a", true));
    setting.policies.push_back(scheme("scheme B, early", "migm-b", true));
  }
  return setting;
}

workload::MigmOptions mix(const std::string& name) {
  workload::MigmOptions options;
  options.mix = name;
  return options;
}

}  // namespace

Study migm_study() {
  Study study;
  study.name = "migm";
  study.title = "Batches of 50 jobs on one A100, packed by memory";
  study.source = "Saraha et al. 2025 (arXiv 2508.18556), abstract: up to these ratios";
  study.batches = true;
  workload::MigmOptions bandwidth_bound = mix("llm");
  bandwidth_bound.layer_ms = 0;
  study.settings = {batch_setting("small", mix("small"), "static:12"),
                    batch_setting("general", mix("general"), "static:12"),
                    batch_setting("ml", mix("ml"), "static:2"),
                    batch_setting("llm", mix("llm"), ""),
                    batch_setting("llm-bandwidth", bandwidth_bound, "")};
  const std::string power =
      "our power does not depend on the work: a busy 7g draws 248.5 W, so energy follows time";
  const auto add = [&](const char* setting, const char* policy, double throughput, double energy,
                       const std::string& remark) {
    study.claims.push_back({setting, "throughput, " + std::string(policy), Kind::kThroughputRatio,
                            policy, kReference, throughput, 0.05, remark});
    study.claims.push_back({setting, "energy, " + std::string(policy), Kind::kEnergyRatio, policy,
                            kReference, energy, 0.05, power, false});
  };
  add("small", "scheme B", 6.20, 5.93, "theirs: the best of batches whose programs we do not know");
  add("ml", "scheme B", 1.59, 1.12, "theirs: models and memory unknown; ours assumed");
  add("llm", "scheme B, early", 1.43, 1.11, "theirs: models and lengths unknown; ours assumed");
  return study;
}

}  // namespace partita::experiment
