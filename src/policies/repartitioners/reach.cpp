#include "policies/repartitioners/reach.h"

#include <algorithm>
#include <utility>

namespace partita::policies {
namespace {

using cluster::JobHandle;

// How long jobs of a kind are expected after the last one came.
constexpr Micros kExpected = Micros::seconds(86'400);

// Profiles of the layout's instances that do not stand where a slice is kept from use.
std::uint16_t profiles_of(const decide::View& view, GpuId gpu, const mig::Layout& layout) {
  mig::Layout kept;
  for (const mig::Placement placement : view.cluster.gpus[gpu.value].layout.instances()) {
    const cluster::Slice& slice = view.cluster.slice(cluster::slice_id(gpu, placement.start));
    const bool busy = slice.state == cluster::SliceState::kBusy;
    if (busy && view.jobs[slice.job].endless()) kept.add(placement);
  }
  unsigned profiles = 0;
  for (const mig::Placement placement : layout.instances()) {
    const bool free = kept.empty() || mig::fits(*view.cluster.model, kept, placement);
    if (free) profiles |= 1U << placement.profile;
  }
  return static_cast<std::uint16_t>(profiles);
}

}  // namespace

void Reach::look(const decide::View& view, std::span<const mig::Layout> layouts) {
  offers_.clear();
  for (std::uint32_t i = 0; i < layouts.size(); ++i) {
    offers_.push_back(profiles_of(view, GpuId{i}, layouts[i]));
  }
  list_kinds(view);
  looked_ = view.now;
}

void Reach::forget() {
  expected_.clear();
  fits_all_ = kAnyProfile;
}

bool Reach::suits_all(const decide::View& view, const decide::LayoutRequest& request) const {
  return (profiles_of(view, request.gpu, request.layout) & fits_all_) != 0;
}

void Reach::expect(std::uint16_t fits, Micros now) {
  fits_all_ &= fits;
  const auto known = std::ranges::find(expected_, fits, &Expected::fits);
  if (known == expected_.end()) {
    expected_.push_back({fits, now});
  } else {
    known->last = now;
  }
}

void Reach::change(const decide::View& view, const decide::LayoutRequest& request) {
  offers_[request.gpu.value] = profiles_of(view, request.gpu, request.layout);
}

// A job that runs may have to wait again where a change may interrupt it.
void Reach::list_kinds(const decide::View& view) {
  const bool stays = view.preemption.mode == decide::Preemption::Mode::kNone;
  kinds_.clear();
  for (std::uint32_t i = 0; i < view.jobs.handles_end(); ++i) {
    if (!view.jobs.present(JobHandle{i})) continue;
    const decide::ActiveJob& job = view.jobs[JobHandle{i}];
    if (job.endless() || (stays && job.running())) continue;
    const Kind kind{job.fits, job.arrival, job.id};
    const auto known = std::ranges::find(kinds_, kind.fits, &Kind::fits);
    if (known == kinds_.end()) {
      kinds_.push_back(kind);
    } else if (kind.before(*known)) {
      *known = kind;
    }
  }
  std::ranges::sort(kinds_, [](const Kind& a, const Kind& b) { return a.before(b); });
}

std::uint16_t Reach::offered() const {
  unsigned profiles = 0;
  for (const std::uint16_t each : offers_) profiles |= each;
  return static_cast<std::uint16_t>(profiles);
}

std::uint16_t Reach::offered_after(const decide::View& view,
                                   const decide::LayoutRequest& request) const {
  unsigned profiles = profiles_of(view, request.gpu, request.layout);
  for (std::uint32_t i = 0; i < offers_.size(); ++i) {
    if (i != request.gpu.value) profiles |= offers_[i];
  }
  return static_cast<std::uint16_t>(profiles);
}

bool Reach::any_stranded() const {
  const std::uint16_t profiles = offered();
  return std::ranges::any_of(kinds_, [&](const Kind& kind) { return (kind.fits & profiles) == 0; });
}

// Kinds with no place before are not held against the request: it did not take it from them.
bool Reach::strands(const decide::View& view, const decide::LayoutRequest& request) const {
  const std::uint16_t before = offered();
  const std::uint16_t after = offered_after(view, request);
  const auto robbed = [&](std::uint16_t fits) {
    return (fits & before) != 0 && (fits & after) == 0;
  };
  return std::ranges::any_of(kinds_, robbed, &Kind::fits) ||
         std::ranges::any_of(expected_, [&](const Expected& kind) {
           return looked_ - kind.last <= kExpected && robbed(kind.fits);
         });
}

// The kind whose oldest job came first is served first; one that no single change can help does not
// keep the next from being helped.
std::optional<decide::LayoutRequest> Reach::relief(const decide::View& view,
                                                   std::span<const mig::Layout> layouts) const {
  const std::uint16_t profiles = offered();
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if ((kinds_[kind].fits & profiles) != 0) continue;
    if (const auto request = relief_of(view, kind, layouts)) return request;
  }
  return {};
}

// On the GPU that loses the least work, with the layout that keeps the most instances. Kinds that
// came before must not lose their last place: two kinds would else take it from each other forever.
std::optional<decide::LayoutRequest> Reach::relief_of(const decide::View& view, std::size_t kind,
                                                      std::span<const mig::Layout> layouts) const {
  const std::uint16_t before = offered();
  std::optional<decide::LayoutRequest> best;
  std::pair<int, int> least;  // busy compute slices, and instances, negative
  for (std::uint32_t gpu = 0; gpu < offers_.size(); ++gpu) {
    for (const mig::Layout& layout : layouts) {
      const decide::LayoutRequest request{GpuId{gpu}, layout};
      const std::pair<int, int> rank{view.cluster.gpus[gpu].busy_compute_slices,
                                     -static_cast<int>(layout.instances().size())};
      if (best && rank >= least) continue;
      const std::uint16_t after = offered_after(view, request);
      const auto robbed = [&](const Kind& older) {
        return (older.fits & before) != 0 && (older.fits & after) == 0;
      };
      const std::span<const Kind> older(kinds_.data(), kind);
      if ((kinds_[kind].fits & after) == 0 || std::ranges::any_of(older, robbed)) continue;
      best = request;
      least = rank;
    }
  }
  return best;
}

}  // namespace partita::policies
