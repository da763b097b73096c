#include "policies/learned/place_scheduler.h"

namespace partita::policies {

PlaceScheduler::PlaceScheduler(nn::Model model, PlaceRules rules)
    : model_(std::move(model)), rules_(std::move(rules)), scene_(rules_) {
  CHECK(model_.policy.shape().inputs() == static_cast<int>(kPlaceFeatures));
}

void PlaceScheduler::begin(const decide::View&) {
  waiting_.clear();
  scene_.begin();
}

void PlaceScheduler::job_arrived(const decide::View& view, JobHandle job) {
  scene_.job_arrived(view.now);
  waiting_.add(job);
}

void PlaceScheduler::job_stopped(const decide::View&, JobHandle job) {
  waiting_.add(job);
}

void PlaceScheduler::job_withdrawn(const decide::View& view, JobHandle job) {
  if (!view.jobs[job].running()) waiting_.remove(job);
}

void PlaceScheduler::job_returned(const decide::View& view, JobHandle job) {
  if (!view.jobs[job].running()) waiting_.add(job);
}

void PlaceScheduler::decide(const decide::View& view, decide::Decision& decision) {
  scene_.clear_taken();
  while (!waiting_.empty() && scene_.look(view)) {
    scene_.list_pairs(view, waiting_.all());
    if (record_ != nullptr) scene_.each_row([&](auto row) { record_->add(row); });
    const PlacePair* best = best_pair();
    if (best == nullptr) return;
    decision.moves.push_back({best->job, best->slice});
    scene_.take(best->slice);
    waiting_.remove(best->job);
  }
}

const PlacePair* PlaceScheduler::best_pair() {
  const std::span<const PlacePair> pairs = scene_.pairs();
  if (pairs.empty()) return nullptr;
  activations_.forward(model_.policy, scene_.features(), static_cast<int>(pairs.size()),
                       nn::portable_kernels());
  const std::span<const float> scores = activations_.outputs();
  std::size_t best = 0;
  float highest = scores[0] + pairs[0].rule;
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    const float score = scores[i] + pairs[i].rule;
    if (score > highest) {
      highest = score;
      best = i;
    }
  }
  const bool waits = highest <= 0 && rules_.has(PlacePiece::kWait) && scene_.anything_runs();
  return waits ? nullptr : &pairs[best];
}

}  // namespace partita::policies
