// Descriptions of records of other modules, and of options, which only the journal and the digest
// of a turn see as records.
#pragma once

#include "base/record.h"
#include "control/controller.h"

namespace partita {

template <>
struct Description<mig::Placement> {
  static void fields(auto& placement, auto&& visit) {
    visit(Field{.most = mig::kProfilesMax - 1}, placement.profile);
    visit(Field{.most = mig::kMemorySlicesMax - 1}, placement.start);
  }
};

template <>
struct Description<device::InstanceKey> {
  static void fields(auto& key, auto&& visit) { visit_each(visit, key.gpu, key.gi, key.uuid); }
};

template <>
struct Description<device::Instance> {
  static void fields(auto& self, auto&& visit) {
    visit_each(visit, self.key, self.placement, self.compute_instances, self.ci, self.generation);
  }
};

template <>
struct Description<device::DeviceError> {
  static void fields(auto& error, auto&& visit) {
    visit(Field{.most = static_cast<double>(device::Fault::kUnknown)}, error.fault);
    visit_each(visit, error.message, error.pids);
  }
};

template <>
struct Description<mig::Profile> {
  static void fields(auto& profile, auto&& visit) {
    visit_each(visit, profile.name, profile.nvml_id, profile.nvml_enum);
    visit(Field{.most = mig::kComputeSlicesMax}, profile.compute_slices);
    visit(Field{.most = mig::kMemorySlicesMax}, profile.memory_slices);
    visit_each(visit, profile.memory_gib, profile.sms, profile.instances_max);
    visit(Field{.most = mig::kMemorySlicesMax - 1}, profile.starts);
    visit_each(visit, profile.media, profile.double_memory);
  }
};

template <>
struct Description<mig::ChangeSeconds> {
  static void fields(auto& self, auto&& visit) { visit_each(visit, self.create, self.destroy); }
};

template <>
struct Description<mig::PowerCurve> {
  static void fields(auto& curve, auto&& visit) { visit_each(visit, curve.name, curve.watts); }
};

template <>
struct Description<mig::GpuModel> {
  static void fields(auto& model, auto&& visit) {
    visit_each(visit, model.key, model.title);
    visit(Field{.most = mig::kComputeSlicesMax}, model.compute_slices);
    visit(Field{.most = mig::kMemorySlicesMax}, model.memory_slices);
    visit_each(visit, model.sms_without_mig, model.profiles, model.change_seconds,
               model.power_curves);
  }
};

template <>
struct Description<decide::EarlyRestart> {
  static void fields(auto& rule, auto&& visit) {
    visit_each(visit, rule.readings, rule.window, rule.least, rule.z, rule.confirmations);
  }
};

template <>
struct Description<control::GpuFact> {
  static void fields(auto& gpu, auto&& visit) { visit_each(visit, gpu.uuid, gpu.name, gpu.device); }
};

template <>
struct Description<control::Limits> {
  static void fields(auto& limits, auto&& visit) {
    visit_each(visit, limits.queue_jobs_max, limits.queue_jobs_per_user_max,
               limits.finished_jobs_kept_max, limits.array_jobs_max, limits.argv_bytes_max,
               limits.environment_entries_max, limits.name_bytes_max, limits.key_bytes_max,
               limits.attempts_max, limits.losses_max, limits.time_limit_max);
  }
};

template <>
struct Description<std::pair<std::string, double>> {
  static void fields(auto& self, auto&& visit) { visit_each(visit, self.first, self.second); }
};

template <>
struct Description<decide::QueueRules> {
  static void fields(auto& rules, auto&& visit) {
    visit_each(visit, rules.reserve_after);
    visit(Field{.most = static_cast<double>(decide::FairOrder::kJoules)}, rules.fair_share);
    visit_each(visit, rules.half_life, rules.weights);
  }
};

// What a preemption costs and how users share stand in front of a beginning (journal.cpp).
template <>
struct Description<control::Options> {
  static void fields(auto& options, auto&& visit) {
    visit_each(visit, options.shadow, options.early_restart, options.preempt_after,
               options.restart_cost, options.pass_interval, options.et_a, options.limits);
  }
};

}  // namespace partita
