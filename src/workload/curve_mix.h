// CurveMix: which speed-up curve a job gets, as weights given in a line of text.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "workload/curves.h"

namespace partita::workload {

class CurveMix {
 public:
  // "miso-resnet-b64=2,bert-training": names with weights (1 when not given). The groups papers,
  // miso and h200 stand for their curves, which share the weight of the group alike.
  static Result<CurveMix> parse(std::string_view text);

  // The curve at `part` of the total weight. REQUIRES: 0 <= part < 1.
  const Curve& pick(double part) const;

  struct Entry {
    const Curve* curve;
    double weight_until;  // of all entries up to this one, the total being 1
  };
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  Status add(std::string_view name, double weight);

  std::vector<Entry> entries_;
};

}  // namespace partita::workload
