#include "policies/learned/familiarity.h"

#include <algorithm>

namespace partita::policies {

// Whatever interrupts jobs at a price is one kind of run.
std::string preemption_word(decide::Preemption::Mode mode) {
  if (mode == decide::Preemption::Mode::kFree) return "free";
  return mode == decide::Preemption::Mode::kNone ? "none" : "cost";
}

void Familiarity::begin(const decide::View& view) {
  const auto trained = model_.facts.more.find(kTrainedPreemption);
  other_rules_ = trained != model_.facts.more.end() &&
                 trained->second != preemption_word(view.preemption.mode);
  jobs_.begin();
  looks_ = 0;
  far_ = 0;
  trust_ = other_rules_ ? Trust::kNo : recorded() ? Trust::kUnknown : Trust::kYes;
}

void Familiarity::add_look(double far) {
  ++looks_;
  far_ += (far - far_) / std::min(static_cast<double>(looks_), kLooksRemembered);
  if (looks_ < kLooksMin || other_rules_) return;
  trust_ = far_ > (trust_ == Trust::kNo ? kFamiliar : kStrange) ? Trust::kNo : Trust::kYes;
}

Trust Familiarity::trust() const {
  const Trust jobs = jobs_.trust();
  if (other_rules_ || jobs == Trust::kNo) return Trust::kNo;
  // Jobs as in training, in a queue longer than any there: the base would only let it grow.
  if (jobs == Trust::kYes && jobs_.recorded()) return Trust::kYes;
  if (trust_ == Trust::kNo) return Trust::kNo;
  return trust_ == Trust::kYes ? jobs : Trust::kUnknown;
}

}  // namespace partita::policies
