#include "policies/repartitioners/guarded.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "policies/guard_note.h"

namespace partita::policies {
namespace {

constexpr Micros kPauseMin = Micros::seconds(1800);
constexpr Micros kPauseMax = Micros::seconds(8 * 3600);

constexpr double kReturnShare = 0.0025;  // of the base's ET

// Where the inner one has turns at times of the day only, what was held back is looked at again
// after so many arrivals and completions.
constexpr std::uint64_t kEveryEvents = 20;

}  // namespace

Guarded::Guarded(std::unique_ptr<decide::Repartitioner> inner, GuardOptions options)
    : inner_(std::move(inner)), options_(std::move(options)), loss_({}) {
  CHECK(inner_ != nullptr);
}

std::vector<mig::Layout> Guarded::initial_layouts(const decide::View& view) {
  wanted_ = inner_->initial_layouts(view);
  base_ = options_.base.empty() ? wanted_ : options_.base;
  targets_ = start_ = options_.begins_with_base ? base_ : wanted_;
  trust_ = options_.trust ? options_.trust() : Trust::kYes;
  lost_ = false;
  retry_ = {};
  pause_ = kPauseMin;
  fallbacks_ = 0;
  note_.clear();
  standing_.reset();
  loss_ = LossWatch(start_, options_.changes_often);
  reach_.forget();
  reach_.look(view, targets_);
  look_again_ = false;
  if (inner_->take_layouts(view, targets_)) wanted_ = targets_;
  last_goal_ = nullptr;  // so that the first turn looks at all GPUs
  differing_.clear();
  return targets_;
}

std::uint64_t Guarded::every_events() const {
  const std::uint64_t inner = inner_->every_events();
  return inner > 0 ? inner : kEveryEvents;
}

void Guarded::job_arrived(const decide::View& view, cluster::JobHandle job) {
  if (inner_->watches_arrivals()) inner_->job_arrived(view, job);
  loss_.job_arrived(view.jobs[job]);
  reach_.expect(view.jobs[job].fits, view.now);
  look_again_ = look_again_ || !reach_.offers(view.jobs[job].fits);
}

void Guarded::job_returned(const decide::View& view, cluster::JobHandle job) {
  if (inner_->watches_arrivals()) inner_->job_returned(view, job);
  reach_.expect(view.jobs[job].fits, view.now);
  look_again_ = true;
}

void Guarded::ask(const decide::View& view, const decide::LayoutRequest& request,
                  Requests& requests) {
  requests.push_back(request);
  targets_[request.gpu.value] = request.layout;
  reach_.change(view, request);
}

void Guarded::relieve(const decide::View& view, Requests& requests) {
  if (!look_again_ && layouts_looked_ == view.cluster.layout_version) return;
  reach_.look(view, targets_);
  layouts_looked_ = view.cluster.layout_version;
  const std::size_t before = requests.size();
  if (const auto request = reach_.relief(view, options_.relief)) {
    ask(view, *request, requests);
    differing_.push_back(request->gpu.value);
    if (inner_->take_layouts(view, targets_)) wanted_ = targets_;
  }
  look_again_ = reach_.any_stranded();
  loss_.asked(view.now, std::span(requests).subspan(before));
}

void Guarded::fall_back(const decide::View& view, const std::string& why) {
  ++fallbacks_;
  note(view, why + "; keeping the base layouts");
}

// Where nobody reads the log before the end of the run, the first is what is read.
void Guarded::note(const decide::View& view, const std::string& text) {
  if (note_.empty()) note_ = guard_note(view.now, text);
}

void Guarded::look_at_loss(const decide::View& view) {
  if (!watches_loss() || !loss_.due(view)) return;
  const std::optional<Standing> now = loss_.standing(view);
  if (!now) return;
  standing_ = now;
  const double loss = standing_->loss();
  if (lost_) {
    lost_ = view.now < retry_ || loss > options_.loss_max / 2;
  } else if (loss > options_.loss_max) {
    lost_ = true;
    retry_ = view.now + pause_;
    pause_ = std::min(pause_ + pause_, kPauseMax);
    fall_back(view, fmt::format("changing layouts has raised ET by {:.1f} % of what keeping them "
                                "would have cost",
                                100 * loss));
  }
}

void Guarded::look_at_trust(const decide::View& view) {
  if (!options_.trust) return;
  const Trust before = std::exchange(trust_, options_.trust());
  const bool first = fallbacks_ == 0;
  if (trust_ == Trust::kNo && (before != Trust::kNo || first)) {
    fall_back(view, "the model sees what it was not trained on");
  }
}

void Guarded::hear(const decide::View& view) {
  heard_.clear();
  inner_->decide(view, heard_);
  for (const decide::LayoutRequest& request : heard_) {
    wanted_[request.gpu.value] = request.layout;
    differing_.push_back(request.gpu.value);
  }
}

void Guarded::decide(const decide::View& view, Requests& requests) {
  const bool was_tripped = tripped();
  look_at_loss(view);
  // One that goes on from any layouts need not be heard while nobody follows it.
  const bool rests = fallen_back() && inner_->take_layouts(view, targets_);
  if (!rests) hear(view);
  look_at_trust(view);
  if (was_tripped && !tripped()) note(view, "the base layouts are left again");
  const std::size_t before = requests.size();
  follow(view, requests);
  loss_.asked(view.now, std::span(requests).subspan(before));
}

// What differs from the goal and leaves nobody without a slice.
void Guarded::list_changes(const decide::View& view, const std::vector<mig::Layout>& goal) {
  std::ranges::sort(differing_);
  differing_.erase(std::unique(differing_.begin(), differing_.end()), differing_.end());
  std::erase_if(differing_, [&](std::uint32_t gpu) { return goal[gpu] == targets_[gpu]; });
  changes_.clear();
  bool safe = true;
  for (const std::uint32_t gpu : differing_) {
    changes_.push_back({GpuId{gpu}, goal[gpu]});
    safe = safe && reach_.suits_all(view, changes_.back());
  }
  if (!safe) drop_stranding(view);
}

// One after the other, as if all before were asked for.
void Guarded::drop_stranding(const decide::View& view) {
  reach_.look(view, targets_);
  std::erase_if(changes_, [&](const decide::LayoutRequest& request) {
    if (reach_.strands(view, request)) return true;
    reach_.change(view, request);
    return false;
  });
  reach_.look(view, targets_);
  look_again_ = look_again_ || reach_.any_stranded();
}

// Where nothing can be foreseen nothing is refused. What goes back to the base may cost a little
// even when there is no margin left.
bool Guarded::affordable(const decide::View& view) const {
  if (!watches_loss() || view.forecaster == nullptr) return true;
  if (!standing_) return options_.at_once || loss_.too_many_jobs(view);
  const double left = (1 + options_.loss_max) * standing_->base - standing_->ours;
  const double least = fallen_back() ? kReturnShare * standing_->base : 0;
  return loss_.added_by(view, *standing_, changes_) <= std::max(left, least);
}

void Guarded::follow(const decide::View& view, Requests& requests) {
  const bool back = fallen_back();
  const std::vector<mig::Layout>& goal = this->goal();
  if (std::exchange(last_goal_, &goal) != &goal) {
    differing_.resize(targets_.size());
    std::iota(differing_.begin(), differing_.end(), 0U);
  }
  if (differing_.empty()) return;
  list_changes(view, goal);
  if (!changes_.empty() && affordable(view)) {
    for (const decide::LayoutRequest& request : changes_) ask(view, request, requests);
  }
  std::erase_if(differing_, [&](std::uint32_t gpu) { return goal[gpu] == targets_[gpu]; });
  if ((back || !differing_.empty()) && inner_->take_layouts(view, targets_)) wanted_ = targets_;
}

std::string Guarded::take_note() {
  return std::exchange(note_, {});
}

}  // namespace partita::policies
