#include "device/layouts/layout_apply.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/whole_file.h"

namespace partita::device {
namespace {

using nlohmann::json;
using End = ApplyResult::End;

constexpr std::string_view kFormat = "partita-layout-journal-1";

json gpu_json(const JournalGpu& gpu) {
  return {{"uuid", gpu.uuid},
          {"mig_before", gpu.mig_before},
          {"before", gpu.before},
          {"mig_wanted", gpu.mig_wanted},
          {"wanted", gpu.wanted}};
}

Journal journal_from(const json& from) {
  Journal journal;
  journal.label = from.at("label").get<std::string>();
  journal.taking_back = from.at("taking_back").get<bool>();
  for (const json& gpu : from.at("gpus")) {
    journal.gpus.push_back({gpu.at("uuid").get<std::string>(), gpu.at("mig_before").get<bool>(),
                            gpu.at("before").get<std::string>(), gpu.at("mig_wanted").get<bool>(),
                            gpu.at("wanted").get<std::string>()});
  }
  return journal;
}

Error io_error(const std::filesystem::path& path) {
  return {fmt::format("{}: {}", path.string(), std::strerror(errno))};
}

// The bytes and, with a folder, the name of a file put on the disk.
bool sync_path(const std::filesystem::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = ::fsync(fd) == 0;
  ::close(fd);
  return synced;
}

mig::Layout layout_of_slices(const std::vector<Occupied>& slices) {
  mig::Layout layout;
  for (const Occupied& slice : slices) {
    if (slice.instance.compute_instances == 1) layout.add(slice.instance.placement);
  }
  return layout;
}

Journal journal_of(const std::vector<GpuPlan>& plans, const std::string& label) {
  Journal journal;
  journal.label = label;
  for (const GpuPlan& plan : plans) {
    const GpuInfo& gpu = plan.from.gpu;
    if (gpu.model == nullptr) continue;
    journal.gpus.push_back({gpu.uuid, gpu.mode == MigMode::kEnabled,
                            mig::format_layout(*gpu.model, layout_of_slices(plan.from.slices)),
                            plan.wish.mig_enabled, mig::format_layout(*gpu.model, plan.target)});
  }
  return journal;
}

Done perform(Backend& backend, GpuId gpu, const PlanStep& step) {
  switch (step.kind) {
    case PlanStep::Kind::kEnableMig:
      return backend.set_mig_mode(gpu, true);
    case PlanStep::Kind::kDisableMig:
      return backend.set_mig_mode(gpu, false);
    case PlanStep::Kind::kDestroy:
      return backend.destroy(step.key);
    case PlanStep::Kind::kCreate:
      break;
  }
  const Answer<Instance> made = backend.create(gpu, step.placement);
  if (!made) return made.error();
  return Nothing{};
}

// The steps of all plans; the first that fails ends it.
Done perform_all(Backend& backend, const std::vector<GpuPlan>& plans, bool back,
                 const StepListener& listener, int& steps) {
  for (const GpuPlan& plan : plans) {
    for (const PlanStep& step : plan.steps) {
      listener(plan, step, back);
      Done done = perform(backend, plan.from.gpu.id, step);
      if (!done) return done;
      ++steps;
    }
  }
  return Nothing{};
}

// That the GPUs now look as planned: the driver's word for it, not ours.
Done verify(Backend& backend, const std::vector<GpuPlan>& plans) {
  const Answer<std::vector<GpuSituation>> now = read_situation(backend);
  if (!now) return now.error();
  for (const GpuPlan& plan : plans) {
    for (const GpuSituation& one : *now) {
      if (one.gpu.uuid != plan.from.gpu.uuid || one.gpu.model == nullptr) continue;
      const bool mode = (one.gpu.mode == MigMode::kEnabled) == plan.wish.mig_enabled;
      const mig::Layout layout = layout_of_slices(one.slices);
      const bool whole = layout.instances().size() == one.slices.size();
      if (mode && whole && layout == plan.target) continue;
      return DeviceError{Fault::kUnknown,
                         fmt::format("GPU {} has {} after the change, and {} was wanted",
                                     one.gpu.id.value, mig::format_layout(*one.gpu.model, layout),
                                     mig::format_layout(*one.gpu.model, plan.target)),
                         {}};
    }
  }
  return Nothing{};
}

// Plans for each GPU of the journal, to one of its two layouts.
Result<std::vector<GpuPlan>> journal_plans(Backend& backend, const Journal& journal, bool back) {
  const Answer<std::vector<GpuSituation>> now = read_situation(backend);
  if (!now) return Error{now.error().message};
  std::vector<GpuPlan> plans;
  for (const JournalGpu& entry : journal.gpus) {
    const auto found = std::ranges::find_if(
        *now, [&](const GpuSituation& one) { return one.gpu.uuid == entry.uuid; });
    if (found == now->end() || found->gpu.model == nullptr) {
      return Error{fmt::format("{} is not there any more", entry.uuid)};
    }
    const Result<mig::Layout> layout =
        mig::parse_layout(*found->gpu.model, back ? entry.before : entry.wanted);
    if (!layout) return layout.error();
    Result<GpuPlan> plan =
        plan_gpu(*found, {back ? entry.mig_before : entry.mig_wanted, {}, *layout});
    if (!plan) return plan.error();
    if (!plan->possible()) return Error{blocked_sentence(*plan)};
    plans.push_back(std::move(*plan));
  }
  return plans;
}

// One way through the journal, without a way back.
Status finish(Backend& backend, const Journal& journal, bool back, const StepListener& listener,
              int& steps) {
  const Result<std::vector<GpuPlan>> plans = journal_plans(backend, journal, back);
  if (!plans) return plans.error();
  Done done = perform_all(backend, *plans, back, listener, steps);
  if (done) done = verify(backend, *plans);
  if (!done) return Error{done.error().message};
  return {};
}

ApplyResult take_back(Backend& backend, Journal journal, const std::filesystem::path& path,
                      const StepListener& listener, ApplyResult result) {
  journal.taking_back = true;
  Status status = write_journal(path, journal);
  int ignored = 0;
  if (status) status = finish(backend, journal, true, listener, ignored);
  if (!status) {
    result.end = End::kStuck;
    result.failure += fmt::format("; taking it back failed: {}", status.error().message);
    return result;
  }
  std::error_code error;
  std::filesystem::remove(path, error);
  result.end = End::kTakenBack;
  return result;
}

}  // namespace

Result<std::optional<Journal>> read_journal(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::optional<Journal>();
  const Result<std::string> text = read_whole_file(path.string());
  if (!text) return text.error();
  try {
    const json from = json::parse(*text);
    if (from.at("format").get<std::string>() != kFormat) {
      return Error{fmt::format("{}: expected format {}", path.string(), kFormat)};
    }
    return std::optional(journal_from(from));
  } catch (const json::exception&) {
    return Error{fmt::format(
        "{}: this is no journal of `partita layout apply`; see what the file is, and move "
        "it away or name another with --journal",
        path.string())};
  }
}

Status write_journal(const std::filesystem::path& path, const Journal& journal) {
  json gpus = json::array();
  for (const JournalGpu& gpu : journal.gpus) gpus.push_back(gpu_json(gpu));
  const json all = {{"format", kFormat},
                    {"label", journal.label},
                    {"taking_back", journal.taking_back},
                    {"gpus", std::move(gpus)}};
  const std::filesystem::path beside = path.string() + ".new";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file << all.dump(1, ' ', true, json::error_handler_t::replace) << "\n";
    if (!file.flush()) return io_error(beside);
  }
  if (!sync_path(beside, O_RDONLY)) return io_error(beside);
  if (::rename(beside.c_str(), path.c_str()) != 0) return io_error(path);
  if (!sync_path(path.parent_path().empty() ? "." : path.parent_path(), O_RDONLY | O_DIRECTORY)) {
    return io_error(path);
  }
  return {};
}

ApplyResult apply_layouts(Backend& backend, const std::vector<GpuPlan>& plans,
                          const std::string& label, const std::filesystem::path& journal,
                          const StepListener& listener) {
  ApplyResult result;
  bool nothing = true;
  for (const GpuPlan& plan : plans) {
    CHECK(plan.possible());
    nothing = nothing && plan.steps.empty();
  }
  if (nothing) return result;
  const Journal record = journal_of(plans, label);
  if (const Status written = write_journal(journal, record); !written) {
    return {End::kTakenBack, 0, written.error().message};
  }
  Done done = perform_all(backend, plans, false, listener, result.steps);
  if (done) done = verify(backend, plans);
  if (!done) {
    result.failure = done.error().message;
    return take_back(backend, record, journal, listener, std::move(result));
  }
  std::error_code error;
  std::filesystem::remove(journal, error);
  return result;
}

ApplyResult resume_layouts(Backend& backend, const Journal& journal,
                           const std::filesystem::path& path, bool back,
                           const StepListener& listener) {
  ApplyResult result;
  const Status status =
      finish(backend, journal, back || journal.taking_back, listener, result.steps);
  if (!status) {
    result.failure = status.error().message;
    if (back || journal.taking_back) {
      result.end = End::kStuck;
      return result;
    }
    return take_back(backend, journal, path, listener, std::move(result));
  }
  std::error_code error;
  std::filesystem::remove(path, error);
  return result;
}

}  // namespace partita::device
