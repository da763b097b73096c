#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/whole_file.h"
#include "cli/live/backends.h"
#include "cli/live/daemon_client.h"
#include "cli/text/layout_text.h"
#include "cli/verbs/verbs.h"
#include "device/layouts/layout_apply.h"

namespace partita::cli {
namespace {

using device::ApplyResult;
using device::Backend;
using device::GpuPlan;
using device::GpuSituation;
using device::Journal;
using device::MigConfig;
using device::MigConfigFile;
using nlohmann::ordered_json;

std::string variable_of(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// What the GPUs or another program do not allow: no mistake of whoever asks.
int refuse(const Error& why) {
  complain(why.message);
  return 1;
}

Result<std::vector<GpuSituation>> situation_of(Backend& backend) {
  const auto now = device::read_situation(backend);
  if (!now) return told(now.error());
  return *now;
}

// A daemon that serves one of these GPUs will find them changed. Simulated ones have the same names
// in every file, so nothing can be said of them.
void warn_of_daemon(const Values& values, const std::vector<GpuPlan>& plans) {
  if (values.text("node-backend").find("simulated") != std::string::npos) return;
  DaemonClient client(values);
  const DaemonAnswer answer = client.ask("GET", "/v1/gpus");
  if (!answer.good()) return;
  const ordered_json gpus = ordered_json::parse(answer.body, nullptr, false);
  if (!gpus.is_object() || !gpus.contains("gpus")) return;
  for (const ordered_json& gpu : gpus["gpus"]) {
    const auto served = std::ranges::find_if(plans, [&](const GpuPlan& plan) {
      return !plan.steps.empty() && plan.from.gpu.uuid == gpu.value("uuid", "");
    });
    if (served == plans.end()) continue;
    return warn(
        fmt::format("GPU {} is served by a daemon: slices made here are foreign to it, and "
                    "it recreates those that are destroyed",
                    served->from.gpu.id.value));
  }
}

// A flag, or the variable that mig-parted takes it from.
std::string flag_or(const Values& values, std::string_view name, const char* variable) {
  return values.is_set(name) ? values.text(name) : variable_of(variable);
}

struct Selected {
  std::string label;
  MigConfig config;
};

Result<Selected> selected_config(const Values& values) {
  const std::string path = flag_or(values, "config-file", "MIG_PARTED_CONFIG_FILE");
  if (path.empty()) return Error{"--config-file is missing: a file of layouts, - for stdin"};
  const Result<std::string> text = read_whole_file(path == "-" ? "/dev/stdin" : path);
  if (!text) return text.error();
  const Result<MigConfigFile> configs = device::parse_mig_config(*text);
  if (!configs) return Error{fmt::format("{}: {}", path, configs.error().message)};
  if (const auto line = device::second_document(*text)) {
    warn(
        fmt::format("{} line {}: what follows --- is not read; mig-parted reads the first "
                    "document only, too",
                    path, *line));
  }
  std::string label = flag_or(values, "selected-config", "MIG_PARTED_SELECTED_CONFIG");
  const std::vector<std::string> labels = configs->labels();
  if (label.empty() && labels.size() == 1) label = labels.front();
  if (label.empty()) {
    return Error{
        fmt::format("--selected-config is missing; {} has {}", path, fmt::join(labels, ", "))};
  }
  const MigConfig* const config = configs->find(label);
  if (config == nullptr) return unknown_name("configuration", label, labels);
  return Selected{label, *config};
}

// A file for a node with more GPUs: what it says of those is left out, as mig-parted does without
// a word.
void warn_of_missing(const Selected& selected, std::size_t gpus) {
  const std::vector<int> missing = device::missing_gpus(selected.config, gpus);
  if (missing.empty()) return;
  warn(
      fmt::format("{} names GPU {}, and this node has {}: what it says of them is left out, as "
                  "mig-parted does",
                  selected.label, fmt::join(missing, ", "), gpus));
}

// Where a change under way is noted: --journal, or in the user's state folder.
std::filesystem::path journal_path(const Values& values) {
  if (values.is_set("journal")) return values.text("journal");
  std::filesystem::path folder = "/var/lib/partita";
  const std::string state = variable_of("XDG_STATE_HOME");
  const std::string home = variable_of("HOME");
  if (::geteuid() != 0 && !home.empty()) folder = home + "/.local/state/partita";
  if (!state.empty()) folder = state + "/partita";
  return folder / "layout-journal.json";
}

Status make_folder_of(const std::filesystem::path& path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) return Error{fmt::format("{}: {}", path.string(), error.message())};
  return {};
}

// The file that stands for the GPUs, whoever changes them and wherever the journal is: that of
// simulated ones, or one of the machine. Empty: they are gone with this program.
std::string lock_of_gpus(const std::string& backend) {
  constexpr std::string_view kKey = "state=";
  const auto at = backend.find(kKey);
  if (at != std::string::npos) {
    const std::string file = backend.substr(at + kKey.size());
    return file.substr(0, file.find(',')) + ".layout-lock";
  }
  return backend.find("simulated") != std::string::npos ? "" : "/run/lock/partita-layout.lock";
}

// One change at a time; released when the program ends, however it does.
Status lock_gpus(const std::string& backend) {
  const std::string name = lock_of_gpus(backend);
  if (name.empty()) return {};
  // Without making it first: in a folder for all, a file of another user may be opened, not made.
  int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fd = ::open(name.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return Error{fmt::format("{}: {}", name, std::strerror(errno))};
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
  ::close(fd);
  return Error{fmt::format("{}: another `partita layout apply` is at work on these GPUs", name)};
}

struct Planned {
  Selected selected;
  std::vector<GpuPlan> plans;

  bool possible() const {
    return std::ranges::all_of(plans, [](const GpuPlan& plan) { return plan.possible(); });
  }
};

Result<Planned> planned(Selected selected, const std::vector<GpuSituation>& now) {
  warn_of_missing(selected, now.size());
  Result<std::vector<GpuPlan>> plans = device::plan_config(selected.config, now);
  if (!plans) return Error{fmt::format("{}: {}", selected.label, plans.error().message)};
  return Planned{std::move(selected), std::move(*plans)};
}

void warn_of_interrupted(const Values& values) {
  const Result<std::optional<Journal>> journal = device::read_journal(journal_path(values));
  if (!journal || !journal->has_value()) return;
  warn(fmt::format("a change to {} was interrupted; `partita layout apply` {} first",
                   (*journal)->label,
                   (*journal)->taking_back ? "takes it back" : "finishes it, or takes it back,"));
}

Outcome run_plan(const Values& values, Console& console, Backend& backend) {
  Result<Selected> selected = selected_config(values);
  if (!selected) return selected.error();
  warn_of_interrupted(values);
  const Result<std::vector<GpuSituation>> now = situation_of(backend);
  if (!now) return refuse(now.error());
  const Result<Planned> plan = planned(*std::move(selected), *now);
  if (!plan) return plan.error();
  print_either(values, console, plans_json(plan->selected.label, plan->plans),
               plans_text(plan->selected.label, plan->plans));
  return plan->possible() ? 0 : 1;
}

// What `apply` says at its end; `back`: what was to be done was taking a change back.
int tell_result(const Values& values, Console& console, const std::string& label, bool back,
                const ApplyResult& result) {
  static constexpr std::array<const char*, 3> kEnds = {"done", "taken-back", "stuck"};
  const bool done = result.end == ApplyResult::End::kDone;
  const auto end =
      static_cast<std::size_t>(done && back ? ApplyResult::End::kTakenBack : result.end);
  if (values.has_switch("json")) {
    ordered_json json;
    json["config"] = label;
    json["result"] = kEnds.at(end);
    json["steps"] = result.steps;
    json["failure"] = result.failure.empty() ? ordered_json() : ordered_json(result.failure);
    print_json(console, json);
  } else if (done) {
    const char* const what = back ? "taken back" : result.steps == 0 ? "nothing to do" : "done";
    console.out.write(
        fmt::format("{}: {}{}\n", label, what,
                    result.steps == 0 ? "" : fmt::format(", {} steps", result.steps)));
  }
  if (result.end == ApplyResult::End::kTakenBack) {
    complain(fmt::format("{}; the change was given up, and everything is as it was before",
                         result.failure));
  }
  if (result.end == ApplyResult::End::kStuck) {
    complain(fmt::format(
        "{}; the change is half done: run `partita layout apply{}` without a file "
        "to try again, with --rollback to go back",
        result.failure, values.is_set("journal") ? " --journal " + values.text("journal") : ""));
  }
  return done ? 0 : 1;
}

device::StepListener step_teller(const Values& values, Console& console) {
  if (values.has_switch("json")) return [](const GpuPlan&, const device::PlanStep&, bool) {};
  return [&console](const GpuPlan& plan, const device::PlanStep& step, bool back) {
    console.out.write(step_text(plan, step, back) + "\n");
    console.out.flush();  // whoever looks, or whatever ends us, sees how far it came
  };
}

Outcome run_resume(const Values& values, Console& console, Backend& backend,
                   const std::filesystem::path& path, const Journal& journal) {
  const bool back = values.has_switch("rollback") || journal.taking_back;
  warn(fmt::format("a change to {} was interrupted; {} first", journal.label,
                   back ? "taking it back" : "finishing it"));
  const ApplyResult result =
      device::resume_layouts(backend, journal, path, back, step_teller(values, console));
  return tell_result(values, console, journal.label, back, result);
}

Outcome run_apply(const Values& values, Console& console, Backend& backend) {
  const std::filesystem::path path = journal_path(values);
  if (const Status made = make_folder_of(path); !made) return made.error();
  if (const Status locked = lock_gpus(values.text("node-backend")); !locked) {
    return refuse(locked.error());
  }
  const Result<std::optional<Journal>> journal = device::read_journal(path);
  if (!journal) return journal.error();
  const bool has_file = !flag_or(values, "config-file", "MIG_PARTED_CONFIG_FILE").empty();
  const bool alone = !has_file || values.has_switch("rollback");
  if (journal->has_value()) {
    // What was begun is finished before anything new.
    const Outcome resumed = run_resume(values, console, backend, path, **journal);
    if (!resumed || *resumed != 0 || alone) return resumed;
  } else if (values.has_switch("rollback")) {
    return Error{
        fmt::format("--rollback: no change is under way ({} is not there)", path.string())};
  }
  Result<Selected> selected = selected_config(values);
  if (!selected) return selected.error();
  const Result<std::vector<GpuSituation>> now = situation_of(backend);
  if (!now) return refuse(now.error());
  const Result<Planned> plan = planned(*std::move(selected), *now);
  if (!plan) return plan.error();
  if (!plan->possible()) {
    for (const GpuPlan& one : plan->plans) {
      if (!one.possible()) complain(device::blocked_sentence(one));
    }
    if (values.has_switch("json"))
      print_json(console, plans_json(plan->selected.label, plan->plans));
    return 1;
  }
  warn_of_daemon(values, plan->plans);
  const ApplyResult result = device::apply_layouts(backend, plan->plans, plan->selected.label, path,
                                                   step_teller(values, console));
  return tell_result(values, console, plan->selected.label, false, result);
}

Outcome run_assert(const Values& values, Console& console, Backend& backend) {
  const Result<Selected> selected = selected_config(values);
  if (!selected) return selected.error();
  const Result<std::vector<GpuSituation>> now = situation_of(backend);
  if (!now) return refuse(now.error());
  warn_of_missing(*selected, now->size());
  const Result<std::vector<GpuPlan>> plans = device::plan_config(selected->config, *now);
  if (!plans) return Error{fmt::format("{}: {}", selected->label, plans.error().message)};
  const std::vector<std::string> differences = differences_of(*plans);
  if (values.has_switch("json")) {
    ordered_json json;
    json["config"] = selected->label;
    json["same"] = differences.empty();
    json["differences"] = differences;
    print_json(console, json);
  } else {
    for (const std::string& difference : differences) complain(difference);
    if (differences.empty()) console.out.write(fmt::format("{}: applied\n", selected->label));
  }
  return differences.empty() ? 0 : 1;
}

void print_configs(const Values& values, Console& console, const MigConfigFile& file) {
  console.out.write(values.has_switch("json") ? device::format_mig_config_json(file)
                                              : device::format_mig_config(file));
}

Outcome run_export(const Values& values, Console& console, Backend& backend) {
  const Result<std::vector<GpuSituation>> now = situation_of(backend);
  if (!now) return refuse(now.error());
  MigConfigFile file;
  file.configs.emplace_back(values.text("label"), device::config_of(*now));
  print_configs(values, console, file);
  return 0;
}

Outcome run_generate_config(const Values& values, Console& console, Backend& backend) {
  const auto gpus = backend.gpus();
  if (!gpus) return refuse(told(gpus.error()));
  print_configs(values, console, device::useful_configs(*gpus));
  return 0;
}

}  // namespace

Outcome run_layout(const Values& values, Console& console) {
  if (!values.is_set("WHAT")) {
    return Error{"layout needs one of plan, apply, assert, export, generate-config"};
  }
  const Result<std::unique_ptr<Backend>> backend = open_backend_of(values);
  if (!backend) return backend.error();
  const std::string what = values.text("WHAT");
  if (what == "plan") return run_plan(values, console, **backend);
  if (what == "apply") return run_apply(values, console, **backend);
  if (what == "assert") return run_assert(values, console, **backend);
  if (what == "export") return run_export(values, console, **backend);
  return run_generate_config(values, console, **backend);
}

}  // namespace partita::cli
