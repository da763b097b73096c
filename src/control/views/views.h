// Views: what is shown of the controller to whoever asks, with no rows of the store and no handles.
//
// They describe themselves (base/record.h), so that answers and their schema are the same. A view
// points into the controller and is used before its next step.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record.h"
#include "control/controller.h"

namespace partita::control {

struct AttemptView {
  std::int64_t number = 0;
  std::string_view gpu;
  std::string slice;
  std::string_view instance;
  Micros started;
  std::optional<Micros> ended = {};
  std::optional<std::int64_t> exit_code = {};
  std::optional<std::int64_t> signal = {};
  std::string_view reason;
  double peak_gib = 0;
  double energy_j = 0;

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "number", self.number, "gpu", self.gpu, "slice", self.slice, "instance",
                self.instance, "started_s", self.started, "ended_s", self.ended, "exit_code",
                self.exit_code, "signal", self.signal, "reason", self.reason, "peak_gib",
                self.peak_gib, "energy_j_estimated", self.energy_j);
  }
};

struct EventView {
  std::int64_t sequence = 0;
  Micros at;
  std::optional<JobNumber> job;
  std::string kind;
  std::string text;

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "sequence", self.sequence, "at_s", self.at, "job", self.job, "kind",
                self.kind, "text", self.text);
  }
};

// What anyone may see of a job. Attempts are a number in lists.
template <typename Attempts = std::int64_t>
struct JobHead {
  JobNumber id;
  std::string_view state;
  std::uint32_t uid = 0;
  Micros submitted;
  Micros changed;
  Attempts attempts{};
  std::string user = {};  // for whoever shows it to fill in: accounts are not known here
  std::optional<std::uint32_t> gpu = {};
  std::optional<std::string> slice = {};

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "id", self.id, "state", self.state, "uid", self.uid, "submitted_s",
                self.submitted, "changed_s", self.changed, "attempts", self.attempts);
    visit(Field{.name = "user", .doc = "The name of the owner's account; its number without one"},
          self.user);
    visit(Field{.name = "gpu", .doc = "The GPU that it holds a slice of"}, self.gpu);
    visit(Field{.name = "slice", .doc = "The slice, PROFILE:START"}, self.slice);
  }
};

// What its owner sees of it in lists. Fields that are visited twice stand where they were first.
template <typename Attempts = std::int64_t>
struct OwnJob : JobHead<Attempts> {
  std::string_view reason;
  double need_gib = 0;
  const JobSpec* spec = &kNoSpec;
  std::optional<JobNumber> array_job;
  std::optional<std::int64_t> array_index;
  static inline const JobSpec kNoSpec;

  static void fields(auto& self, auto&& visit) {
    JobHead<Attempts>::fields(self, visit);
    visit_spec(*self.spec, Shown::kInLists, visit, "name");
    visit_named(visit, "reason", self.reason, "need_gib", self.need_gib);
    visit_spec(*self.spec, Shown::kInLists, visit);
    visit_named(visit, "array_job", self.array_job, "array_index", self.array_index);
  }

  // What was asked for and is shown here; `only` the field of that name.
  static void visit_spec(const JobSpec& spec, Shown least, auto& visit,
                         std::string_view only = {}) {
    JobSpec::fields(spec, [&](const Field& field, const auto& value) {
      if (field.shown >= least && (only.empty() || only == field.name)) visit(field, value);
    });
  }
};

// All of it.
struct WholeJob : OwnJob<std::vector<AttemptView>> {
  std::optional<double> used_gib;
  std::optional<double> late_s;
  double energy_j = 0;
  std::vector<std::string> waits;
  std::vector<EventView> events;

  static void fields(auto& self, auto&& visit) {
    OwnJob::fields(self, visit);
    visit_spec(*self.spec, Shown::kAlone, visit, "memory_gib");
    visit_named(visit, "used_gib", self.used_gib);
    visit_spec(*self.spec, Shown::kAlone, visit, "deadline_s");
    visit_named(visit, "late_s", self.late_s);
    for (const char* name : {"time_limit_s", "times_s", "checkpoint", "directory"}) {
      visit_spec(*self.spec, Shown::kAlone, visit, name);
    }
    visit_spec(*self.spec, Shown::kAlone, visit);
    visit_named(visit, "energy_j_estimated", self.energy_j, "waits", self.waits, "events",
                self.events);
  }
};

struct SliceView {
  std::string slice;
  std::string_view uuid;
  std::string_view state;
  std::string_view holder;
  double memory_gib = 0;
  std::optional<JobNumber> job;
  std::optional<double> used_gib;

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "slice", self.slice, "uuid", self.uuid, "state", self.state, "holder",
                self.holder, "memory_gib", self.memory_gib, "job", self.job, "used_gib",
                self.used_gib);
  }
};

struct GpuView {
  std::uint32_t gpu = 0;
  std::string_view uuid;
  std::string_view name;
  std::string_view state;
  bool usable = false;
  bool readable = true;  // what its board says is worth showing; not shown itself
  std::string_view why_unusable;
  std::optional<double> power_w;
  std::optional<double> energy_j;
  // Absent where the board does not say; with MIG on drivers do not say how busy it is.
  std::optional<double> utilisation;
  std::optional<double> temperature_c;
  std::optional<double> power_limit_w;
  std::vector<SliceView> slices;

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "gpu", self.gpu, "uuid", self.uuid, "name", self.name, "state", self.state,
                "usable", self.usable, "why_unusable", self.why_unusable, "power_w", self.power_w,
                "energy_j", self.energy_j, "utilisation", self.utilisation, "temperature_c",
                self.temperature_c, "power_limit_w", self.power_limit_w, "slices", self.slices);
  }
};

struct UserShareView {
  std::uint32_t uid = 0;
  double share = 1;
  double usage = 0;
  double total = 0;
  double rate = 0;
  double level = 0;

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "uid", self.uid, "share", self.share, "usage", self.usage, "total",
                self.total, "rate", self.rate, "level", self.level);
  }
};

struct ShareView {
  std::string_view measure;  // of usage and rate
  double half_life_s = 0;
  std::vector<UserShareView> users;  // by uid

  static void fields(auto& self, auto&& visit) {
    visit_named(visit, "measure", self.measure, "half_life_s", self.half_life_s, "users",
                self.users);
  }
};

struct JobCounts {
  std::array<std::size_t, kJobStates> by_state{};

  static void fields(auto& self, auto&& visit) {
    for (std::size_t i = 0; i < kJobStates; ++i) {
      visit(Field{.name = name_of(static_cast<JobState>(i))}, self.by_state[i]);
    }
  }
};

AttemptView view_of(const store::AttemptRow& attempt);
EventView view_of(const store::EventRow& event);
std::vector<EventView> views_of(const std::vector<store::EventRow>& events);
JobHead<> head_of(const Controller& controller, const Job& job);
OwnJob<> own_view_of(const Controller& controller, const Job& job);
WholeJob whole_view_of(const Controller& controller, const Job& job, std::vector<EventView> events);
// `own`: whether the caller may see how much of its slice a job uses.
std::vector<GpuView> gpu_views_of(const Controller& controller,
                                  const std::function<bool(const Job&)>& own);
ShareView share_view_of(const Controller& controller);
JobCounts counts_of(const Controller& controller);
// Joules of its latest attempt. REQUIRES: it had one.
double energy_of_attempt(const Job& job);

}  // namespace partita::control
