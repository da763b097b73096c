// Certificates: bounds written down with what proves them, and read back by whoever doubts them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bounds/report.h"

namespace partita::bounds {

// What the bounds are about, beside the jobs themselves.
struct Subject {
  std::string gpu;
  std::string power;
  std::uint32_t gpus = 0;
  std::uint64_t jobs = 0;
  Micros horizon;
  double et_a = 0;
  Runs runs = Runs::kSplit;  // kWhole: of schedules that never interrupt a job

  bool operator==(const Subject&) const = default;
};

struct Certificate {
  Subject subject;
  std::vector<Bound> bounds;
};

// JSON; docs/concepts/bounds.md describes it. Numbers are written so that they read back the same.
std::string to_text(const Certificate& certificate, const Problem& problem);
Result<Certificate> parse_certificate(std::string_view text);

// One bound of a certificate, checked.
struct Verdict {
  Kind kind = Kind::kEnergy;
  std::string name;
  double claimed = 0;
  double proven = 0;
  bool holds = false;
  std::string why;  // it does not, or cannot be checked
};
std::vector<Verdict> verify(const Certificate& certificate, const Problem& problem);

}  // namespace partita::bounds
