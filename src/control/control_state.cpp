#include "control/control_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace partita::control {
namespace {

using cluster::SliceId;

// In shadow mode nothing runs that could be moved.
decide::Preemption preemption_of(const Options& options) {
  using Mode = decide::Preemption::Mode;
  CHECK(options.preemption.mode == Mode::kNone || options.preemption.mode == Mode::kPays);
  return options.shadow ? decide::Preemption{Mode::kNone, {}} : options.preemption;
}

// What would be reserved or shared is not carried out in shadow mode.
Options checked(Options options) {
  if (options.shadow) options.queue = {};
  if (options.shadow) options.quotas = {};
  return options;
}

}  // namespace

ControlState::ControlState(Options chosen, const mig::GpuModel& model, std::vector<GpuFact> gpus,
                           Policies chosen_policies)
    : options(checked(std::move(chosen))),
      fleet(model, std::move(gpus), active),
      memory(model),
      quotas(options.quotas, model, fleet.gpus().size()),
      gates(quotas),
      owned(std::move(chosen_policies)),
      queue(options.queue, jobs, fleet, *owned.scheduler, owned.make_scheduler),
      view{.now = Micros{},
           .cluster = fleet.cluster(),
           .jobs = active,
           .preemption = preemption_of(options),
           .power = model.power_curves.front(),
           .et_a = options.et_a,
           .forecaster = owned.forecaster.get()},
      policies(queue.scheduler(), owned.repartitioner.get()) {
  CHECK(!fleet.gpus().empty());
  policies.use(queue.reservations(), queue.books());
  CHECK(owned.forecaster || !owned.repartitioner->needs_forecasts());
}

std::optional<std::string> ControlState::no_room_for(const launch::Owner& owner,
                                                     std::size_t count) {
  if (auto full = jobs.no_room_for(owner, count, options.limits)) return full;
  return quotas.no_room_for(owner, count);
}

const Job* ControlState::job_on(SliceId slice) const {
  const cluster::Slice& state = fleet.cluster().slice(slice);
  if (state.state != cluster::SliceState::kBusy) return nullptr;
  if (fleet.holder(slice) != Fleet::Holder::kNobody) return nullptr;
  return jobs.of(state.job);
}

Job* ControlState::job_on(SliceId slice) {
  const Job* job = std::as_const(*this).job_on(slice);
  return job == nullptr ? nullptr : &jobs.at(job->id);
}

bool ControlState::runs_own_job(GpuId gpu) const {
  return std::ranges::any_of(fleet.cluster().gpus[gpu.value].layout.instances(),
                             [&](mig::Placement placement) {
                               return job_on(cluster::slice_id(gpu, placement.start)) != nullptr;
                             });
}

double ControlState::capacity_of(const Job& job) const {
  if (!job.handle.valid() || !active[job.handle].slice.valid()) return 0;
  return model().profiles[fleet.cluster().slice(active[job.handle].slice).profile].memory_gib;
}

std::string ControlState::name_of(GpuId gpu, mig::Placement placement) const {
  return fmt::format("GPU {} {}", gpu.value, mig::format_placement(model(), placement));
}

std::string ControlState::name_of(SliceId slice) const {
  return name_of(cluster::gpu_of(slice),
                 {fleet.cluster().slice(slice).profile, cluster::start_of(slice)});
}

std::string ControlState::subject_of(GpuId gpu, std::uint8_t start) const {
  return fmt::format("{}:{}", fleet.gpus()[gpu.value].uuid, start);
}

}  // namespace partita::control
