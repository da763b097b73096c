// Applying layout plans: step by step, taken back when a step fails, gone on with after a crash.
//
// A journal file stands for as long as a change is under way. It holds what was there before and
// what is wanted, so whoever finds it can finish the change either way.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/backend.h"
#include "device/layouts/layout_plan.h"

namespace partita::device {

struct JournalGpu {
  std::string uuid;
  bool mig_before = true;
  std::string before;  // a layout's text
  bool mig_wanted = true;
  std::string wanted;

  bool operator==(const JournalGpu&) const = default;
};

struct Journal {
  std::string label;  // of the configuration
  bool taking_back = false;
  std::vector<JournalGpu> gpus;

  bool operator==(const Journal&) const = default;
};

// Nothing when there is none.
Result<std::optional<Journal>> read_journal(const std::filesystem::path& path);
// On disk when it returns.
Status write_journal(const std::filesystem::path& path, const Journal& journal);

struct ApplyResult {
  enum class End : std::uint8_t {
    kDone,
    kTakenBack,  // a step failed, and everything is as it was before
    kStuck,      // neither; the journal is left, and resume_layouts() tries again
  };
  End end = End::kDone;
  int steps = 0;        // that succeeded, the taking back not counted
  std::string failure;  // the sentence of the step that failed, and why taking it back did too
};

// Told of each step before it is made, and whether it takes something back.
using StepListener = std::function<void(const GpuPlan&, const PlanStep&, bool back)>;

// REQUIRES: every plan is possible. The journal is written before the first step.
ApplyResult apply_layouts(Backend& backend, const std::vector<GpuPlan>& plans,
                          const std::string& label, const std::filesystem::path& journal,
                          const StepListener& listener);

// Finishes what a journal tells of: towards what is wanted, or back to what was before.
// kDone means that it is finished.
ApplyResult resume_layouts(Backend& backend, const Journal& journal,
                           const std::filesystem::path& path, bool take_back,
                           const StepListener& listener);

}  // namespace partita::device
