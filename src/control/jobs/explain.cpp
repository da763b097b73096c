#include "control/jobs/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace partita::control {
namespace {

constexpr std::uint32_t kGpusMax = 8;

// The smallest profile with the memory it needs.
std::optional<mig::ProfileIndex> tightest(const mig::GpuModel& model, double need_gib) {
  std::optional<mig::ProfileIndex> best;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const mig::Profile& profile = model.profiles[i];
    if (profile.memory_gib < need_gib || !profile.plain()) continue;
    if (best && model.profiles[*best].memory_gib <= profile.memory_gib) continue;
    best = static_cast<mig::ProfileIndex>(i);
  }
  return best;
}

std::string holder_of(const Controller& controller, GpuId gpu, mig::Placement placement) {
  const Fleet& fleet = controller.fleet();
  const cluster::SliceId slice = cluster::slice_id(gpu, placement.start);
  const std::string name = mig::format_placement(fleet.model(), placement);
  if (const Job* job = controller.job_on(slice)) return fmt::format("job {} on {}", job->id, name);
  switch (fleet.holder(slice)) {
    case Fleet::Holder::kForeign:
      return name + ", which somebody else made";
    case Fleet::Holder::kQuarantined:
      return name + ", which cannot be destroyed";
    case Fleet::Holder::kClaimed:
      return fmt::format("{}, kept for job {}", name, controller.claimant_of(slice)->id);
    default:
      return name + ", idle";
  }
}

std::string sentence_of_claim(const Controller& controller, cluster::SliceId slice) {
  const Fleet& fleet = controller.fleet();
  const GpuId gpu = cluster::gpu_of(slice);
  const std::string place = fmt::format(
      "GPU {} {}", gpu.value,
      mig::format_placement(fleet.model(),
                            {fleet.cluster().slice(slice).profile, cluster::start_of(slice)}));
  const Job* job = controller.job_on(slice);
  if (job == nullptr) return fmt::format("starts on {}", place);
  return fmt::format("starts on {} when job {} has been stopped there", place, job->id);
}

std::string sentence_for(const Controller& controller, GpuId gpu, mig::ProfileIndex profile) {
  const Fleet& fleet = controller.fleet();
  const mig::GpuModel& model = fleet.model();
  if (controller.devices().drained(gpu))
    return fmt::format("GPU {} is {}", gpu.value, fleet.why_unusable(gpu));
  if (!fleet.usable(gpu))
    return fmt::format("GPU {} is out: {}", gpu.value, fleet.why_unusable(gpu));
  if (fleet.in_step(gpu)) return fmt::format("GPU {} is being cut", gpu.value);
  const mig::Layout& layout = fleet.cluster().gpus[gpu.value].layout;
  const double need_gib = model.profiles[profile].memory_gib;
  for (const mig::Placement placement : layout.instances()) {
    const cluster::Slice& slice = fleet.cluster().slice(cluster::slice_id(gpu, placement.start));
    const bool free = slice.state == cluster::SliceState::kIdle && !slice.closing;
    if (!free || model.profiles[placement.profile].memory_gib < need_gib) continue;
    return fmt::format("GPU {} has {} idle, and the policy does not give it to this job", gpu.value,
                       mig::format_placement(model, placement));
  }
  for (const std::uint8_t start : model.profiles[profile].starts) {
    if (!mig::fits(model, layout, {profile, start})) continue;
    return fmt::format("GPU {} has room, and the policy has not repartitioned it for this job",
                       gpu.value);
  }
  std::vector<std::string> holders;
  for (const mig::Placement placement : layout.instances()) {
    holders.push_back(holder_of(controller, gpu, placement));
  }
  return fmt::format("GPU {} is held by {}", gpu.value, fmt::join(holders, "; "));
}

// What its quotas leave of the slices that have the memory it needs; empty: all of them.
std::string sentence_of_quotas(const Controller& controller, const Job& job) {
  const mig::GpuModel& model = controller.fleet().model();
  const Quotas& quotas = controller.quotas();
  std::vector<std::string> left;
  bool all = true;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if (model.profiles[i].memory_gib < job.progress.need_gib) continue;
    const bool may = quotas.may_start(job.owner, static_cast<mig::ProfileIndex>(i));
    if (may) left.push_back(model.profiles[i].name);
    all = all && may;
  }
  if (all) return {};
  return fmt::format("quota: of what has the memory it may start on {} now",
                     left.empty() ? "nothing" : fmt::format("{}", fmt::join(left, ", ")));
}

}  // namespace

std::vector<std::string> why_waiting(const Controller& controller, const Job& job) {
  std::vector<std::string> sentences;
  if (job.state() != JobState::kQueued) return sentences;
  if (controller.options().shadow) {
    return {"the daemon is in shadow mode: it decides and logs, and starts nothing"};
  }
  if (!controller.no_space().empty()) return {controller.no_space()};
  if (job.barred) return {job.progress.reason};
  if (const auto slice = controller.claim_of(job.id)) {
    return {sentence_of_claim(controller, *slice)};
  }
  const mig::GpuModel& model = controller.fleet().model();
  if (const decide::Reservation* kept = controller.reservation_of(job)) {
    sentences.push_back(fmt::format("GPU {} {} is kept for it; expected in {:.0f} s",
                                    kept->gpu.value, mig::format_placement(model, kept->place),
                                    std::max(0.0, (kept->start - controller.now()).to_seconds())));
  }
  const auto profile = tightest(model, job.progress.need_gib);
  if (!profile) return {fmt::format("no slice has {:.2f} GiB", job.progress.need_gib)};
  sentences.push_back(fmt::format("needs {:.2f} GiB: a {} is the smallest that holds it",
                                  job.progress.need_gib, model.profiles[*profile].name));
  if (std::string quota = sentence_of_quotas(controller, job); !quota.empty()) {
    sentences.push_back(std::move(quota));
  }
  const auto gpus = static_cast<std::uint32_t>(controller.fleet().gpus().size());
  for (std::uint32_t i = 0; i < std::min(gpus, kGpusMax); ++i) {
    sentences.push_back(sentence_for(controller, GpuId{i}, *profile));
  }
  return sentences;
}

}  // namespace partita::control
