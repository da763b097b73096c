#include "decide/place_search.h"

#include <algorithm>
#include <bit>

#include "base/round_up.h"

namespace partita::decide {
namespace {

using cluster::SliceState;

// A job that has outlived its estimate is believed to need as long again as it has run.
Micros expected_end(const ActiveJob& job, Micros now) {
  if (job.finish > now) return job.finish;
  return now + std::max(Micros{1}, now - job.progress_from);
}

std::optional<FoundPlace> look_at(const View& view, const ActiveJob& job, GpuId gpu,
                                  mig::Placement place, const mig::Layout& beside) {
  const mig::GpuModel& model = *view.cluster.model;
  if (!mig::fits(model, beside, place)) return {};
  mig::Layout stay = beside;
  stay.add(place);
  FoundPlace found{gpu, place, view.now, {}, {}, 0, false};
  double change_s = 0;
  bool there = false;
  for (const mig::Placement each : view.cluster.gpus[gpu.value].layout.instances()) {
    const cluster::Slice& slice = view.cluster.slice(cluster::slice_id(gpu, each.start));
    const bool same = each == place;
    there = there || same;
    if (!same && mig::fits(model, stay, each)) {
      stay.add(each);
      continue;
    }
    if (!same) change_s += model.change_seconds[each.profile].destroy;
    if (slice.state != SliceState::kBusy) continue;
    const ActiveJob& on = view.jobs[slice.job];
    if (on.endless()) return {};
    found.drained = std::max(found.drained, expected_end(on, view.now));
    ++found.busy;
  }
  found.exists = there && !view.cluster.slice(cluster::slice_id(gpu, place.start)).closing;
  if (!there) change_s += model.change_seconds[place.profile].create;
  found.start = found.drained + micros_from_seconds(change_s);
  found.end = found.start + need_on(job, size_index_of(model, place.profile));
  return found;
}

}  // namespace

Micros need_on(const ActiveJob& job, std::size_t size_index) {
  return job.restart + round_up(job.work * job.time[size_index]);
}

std::size_t size_index_of(const mig::GpuModel& model, std::size_t profile) {
  return *workload::slice_size_index(model.profiles[profile].compute_slices);
}

Micros least_need(const mig::GpuModel& model, const ActiveJob& job) {
  Micros least = Micros::max();
  for (unsigned left = job.fits; left != 0; left &= left - 1) {
    const auto profile = static_cast<std::size_t>(std::countr_zero(left));
    least = std::min(least, need_on(job, size_index_of(model, profile)));
  }
  return least;
}

std::optional<FoundPlace> find_place(const View& view, const ActiveJob& job,
                                     const PlaceSearch& search) {
  const mig::GpuModel& model = *view.cluster.model;
  std::optional<FoundPlace> best;
  for (std::uint32_t i = 0; i < view.cluster.gpu_count(); ++i) {
    const GpuId gpu{i};
    if (!search.usable(gpu)) continue;
    const mig::Layout beside = search.beside(gpu);
    for (unsigned left = job.fits; left != 0; left &= left - 1) {
      const auto profile = static_cast<mig::ProfileIndex>(std::countr_zero(left));
      for (const std::uint8_t start : model.profiles[profile].starts) {
        const auto found = look_at(view, job, gpu, {profile, start}, beside);
        if (!found) continue;
        if (!best || found->better_than(*best)) best = found;
      }
    }
  }
  return best;
}

InstanceStarts in_the_way(const View& view, GpuId gpu, mig::Placement place) {
  mig::Layout stay;
  stay.add(place);
  unsigned starts = 0;
  for (const mig::Placement other : view.cluster.gpus[gpu.value].layout.instances()) {
    if (other == place) continue;
    if (mig::fits(*view.cluster.model, stay, other)) {
      stay.add(other);
    } else {
      starts |= 1U << other.start;
    }
  }
  return static_cast<InstanceStarts>(starts);
}

}  // namespace partita::decide
