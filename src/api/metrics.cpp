#include <fmt/format.h>

#include <map>
#include <vector>

#include "api/service.h"

namespace partita::api {
namespace {

// A label value: quotes, backslashes and line ends are escaped.
std::string label_value(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

class Text {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  void row(std::string_view name, const std::string& labels, double value) {
    text_ += fmt::format("{}{} {}\n", name, labels.empty() ? "" : "{" + labels + "}", value);
  }
  void raw(const std::string& rows) { text_ += rows; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string gpu_labels(const control::Controller& controller, const Surroundings& around,
                       std::uint32_t gpu) {
  const control::GpuFact& fact = controller.fleet().gpus()[gpu];
  return fmt::format("gpu=\"{}\",UUID={},modelName={},Hostname={}", gpu, label_value(fact.uuid),
                     label_value(fact.name), label_value(around.hostname));
}

void write_gpus(Text& text, const control::Controller& controller, const Surroundings& around) {
  struct Row {
    const char* name;
    const char* type;
    const char* help;
    double (*value)(const control::GpuReading&);
  };
  static constexpr std::array kRows = std::to_array<Row>({
      {"partita_gpu_power_watts", "gauge", "Power of the whole board.",
       [](const control::GpuReading& reading) { return reading.power_w; }},
      {"partita_gpu_energy_joules_total", "counter", "Energy of the whole board, its own counter.",
       [](const control::GpuReading& reading) { return reading.energy_j; }},
      {"partita_gpu_idle_energy_joules_total", "counter",
       "Part of the board's energy since the daemon began that no job used; an estimate.",
       [](const control::GpuReading& reading) { return reading.idle_j; }},
      {"partita_gpu_job_energy_joules_total", "counter",
       "Part of the board's energy since the daemon began that jobs used; an estimate.",
       [](const control::GpuReading& reading) { return reading.attributed_j; }},
  });
  for (const Row& row : kRows) {
    text.head(row.name, row.type, row.help);
    for (std::uint32_t i = 0; i < controller.fleet().gpus().size(); ++i) {
      const control::GpuReading& reading = controller.devices().energy.reading(GpuId{i});
      if (reading.read) text.row(row.name, gpu_labels(controller, around, i), row.value(reading));
    }
  }
  text.head("partita_gpu_usable", "gauge", "Whether jobs are placed on the GPU.");
  for (std::uint32_t i = 0; i < controller.fleet().gpus().size(); ++i) {
    text.row("partita_gpu_usable", gpu_labels(controller, around, i),
             controller.fleet().usable(GpuId{i}) ? 1 : 0);
  }
}

void write_slices(Text& text, const control::Controller& controller, const Surroundings& around) {
  text.head("partita_slice_memory_used_bytes", "gauge", "Memory in use on a slice with a job.");
  const control::Fleet& fleet = controller.fleet();
  std::string energy;
  for (std::uint32_t gpu = 0; gpu < fleet.gpus().size(); ++gpu) {
    for (const mig::Placement placement : fleet.cluster().gpus[gpu].layout.instances()) {
      const cluster::SliceId slice = cluster::slice_id(GpuId{gpu}, placement.start);
      const control::Job* job = controller.job_on(slice);
      if (job == nullptr) continue;
      const std::string labels =
          fmt::format("{},GPU_I_ID=\"{}\",GPU_I_PROFILE={},job_id=\"{}\"",
                      gpu_labels(controller, around, gpu), fleet.instance(slice).gi,
                      label_value(fleet.model().profiles[placement.profile].name), job->id);
      text.row("partita_slice_memory_used_bytes", labels, job->trend.last_gib() * 1073741824.0);
      energy += fmt::format("partita_job_energy_joules_total{{{},method=\"estimated\"}} {}\n",
                            labels, control::energy_of_attempt(*job));
    }
  }
  text.head("partita_job_energy_joules_total", "counter",
            "Share of the board's energy of a running attempt.");
  text.raw(energy);
}

// ---- slices

void write_slice_counts(Text& text, const control::Controller& controller) {
  static constexpr std::array<std::string_view, 5> kStates{"idle", "busy", "creating", "destroying",
                                                           "held"};
  const mig::GpuModel& model = controller.fleet().model();
  std::map<std::pair<std::string, std::string_view>, std::size_t> counts;
  const auto nobodys = [](const control::Job&) { return false; };
  for (const control::GpuView& gpu : control::gpu_views_of(controller, nobodys)) {
    for (const control::SliceView& slice : gpu.slices) {
      ++counts[{slice.slice.substr(0, slice.slice.find(':')), slice.state}];
    }
  }
  text.head("partita_slices", "gauge",
            "Slices by profile and state; held ones are not the daemon's to use.");
  for (const mig::Profile& profile : model.profiles) {
    for (const std::string_view state : kStates) {
      const auto found = counts.find({profile.name, state});
      text.row("partita_slices",
               fmt::format("GPU_I_PROFILE={},state=\"{}\"", label_value(profile.name), state),
               found == counts.end() ? 0 : static_cast<double>(found->second));
    }
  }
}

// ---- totals

// Sums over users of what a name counts, by its labels.
std::map<std::string, double> sums_of(const control::Controller& controller,
                                      std::string_view name) {
  std::map<std::string, double> sums;
  for (const auto& [key, value] : controller.totals().all()) {
    const std::string_view whole = key.second;
    if (!whole.starts_with(name)) continue;
    if (whole.size() == name.size()) sums[""] += value;
    if (whole.size() > name.size() && whole[name.size()] == '.') {
      sums[std::string(whole.substr(name.size() + 1))] += value;
    }
  }
  return sums;
}

constexpr std::string_view kSinceStore = " Since the store was made.";

// `labels`: those that are shown also when nothing was counted.
void write_total(Text& text, const control::Controller& controller, std::string_view metric,
                 std::string_view help, std::string_view name, const char* label,
                 const std::vector<std::string>& labels) {
  std::map<std::string, double> sums = sums_of(controller, name);
  for (const std::string& each : labels) sums.try_emplace(each, 0);
  text.head(metric, "counter", std::string(help) + std::string(kSinceStore));
  for (const auto& [value, sum] : sums) {
    const std::string own = value.empty() ? "" : fmt::format("{}={}", label, label_value(value));
    text.row(metric, own, sum);
  }
}

void write_totals(Text& text, const control::Controller& controller) {
  write_total(text, controller, "partita_jobs_submitted_total", "Jobs that were taken.",
              control::kJobsSubmitted, "", {""});
  write_total(text, controller, "partita_jobs_ended_total", "Jobs that ended, by how.",
              control::kJobsEnded, "state", {"done", "failed", "cancelled", "lost"});
  write_total(text, controller, "partita_deadline_misses_total",
              "Jobs that ended after their deadline; cancelled ones are not counted.",
              control::kDeadlinesMissed, "", {""});
  write_total(text, controller, "partita_restarts_total",
              "Attempts after which a job waited again, by why they ended.", control::kRestarts,
              "cause",
              {"preempted", "memory_projected", "device", "out_of_memory", "lost", "not_started"});
  write_total(text, controller, "partita_out_of_memory_total",
              "Attempts that ended because the memory of their slice was full.",
              control::kMemoryOuts, "", {""});
}

void write_xids(Text& text, const control::Controller& controller) {
  text.head("partita_xid_errors_total", "counter",
            "Xid events of GPUs that the daemon heard of." + std::string(kSinceStore));
  for (const auto& [label, sum] : sums_of(controller, control::kXids)) {
    const auto dot = label.find('.');
    if (dot == std::string::npos) continue;
    text.row("partita_xid_errors_total",
             fmt::format("gpu={},xid={}", label_value(label.substr(0, dot)),
                         label_value(label.substr(dot + 1))),
             sum);
  }
}

void write_waits(Text& text, const control::Controller& controller) {
  constexpr auto kName = "partita_job_wait_seconds";
  const std::map<std::string, double> counts = sums_of(controller, control::kWaits);
  text.head(kName, "histogram",
            "From the submission of a job to its first start." + std::string(kSinceStore));
  double below = 0;
  for (std::size_t i = 0; i <= control::kWaitBucketsSeconds.size(); ++i) {
    const auto found = counts.find(std::to_string(i));
    if (found != counts.end()) below += found->second;
    const bool last = i == control::kWaitBucketsSeconds.size();
    const std::string bound = last ? "+Inf" : std::to_string(control::kWaitBucketsSeconds[i]);
    text.row(fmt::format("{}_bucket", kName), fmt::format("le=\"{}\"", bound), below);
  }
  const std::map<std::string, double> sums = sums_of(controller, control::kWaitSeconds);
  text.row(fmt::format("{}_sum", kName), "", sums.empty() ? 0 : sums.begin()->second);
  text.row(fmt::format("{}_count", kName), "", below);
}

void write_users(Text& text, const control::Controller& controller, const Surroundings& around) {
  struct Row {
    const char* metric;
    const char* help;
    std::string_view name;
    const char* labels;
  };
  static constexpr std::array kRows = std::to_array<Row>({
      {"partita_user_jobs_total", "Jobs that a user submitted.", control::kJobsSubmitted, ""},
      {"partita_user_slice_seconds_total",
       "Seconds that ended attempts of a user held a slice, times its compute slices.",
       control::kSliceSeconds, ""},
      {"partita_user_energy_joules_total",
       "Shares of the boards' energy of a user's ended attempts.", control::kEnergy,
       ",method=\"estimated\""},
  });
  for (const Row& row : kRows) {
    text.head(row.metric, "counter", row.help + std::string(kSinceStore));
    for (const auto& [key, value] : controller.totals().all()) {
      if (key.second != row.name || key.first == control::kNoUser) continue;
      const auto uid = static_cast<std::uint32_t>(key.first);
      text.row(
          row.metric,
          fmt::format("uid=\"{}\",user={}{}", uid, label_value(around.user_name(uid)), row.labels),
          value);
    }
  }
}

void write_jobs(Text& text, const control::Controller& controller) {
  text.head("partita_jobs", "gauge", "Jobs that have not ended, by state.");
  for (std::size_t i = 0; i < control::kJobStates; ++i) {
    const auto state = static_cast<control::JobState>(i);
    if (control::has_ended(state)) continue;
    text.row("partita_jobs", fmt::format("state=\"{}\"", control::name_of(state)),
             static_cast<double>(controller.count(state)));
  }
}

}  // namespace

std::string metrics_text(const control::Controller& controller, const Surroundings& around) {
  Text text;
  text.head("partita_build_info", "gauge", "1; the labels say what runs.");
  text.row("partita_build_info",
           fmt::format("version={},backend={},policy={}", label_value(around.version),
                       label_value(around.backend), label_value(around.policy)),
           1);
  write_jobs(text, controller);
  write_totals(text, controller);
  write_waits(text, controller);
  write_users(text, controller, around);
  text.head("partita_passes_total", "counter", "Scheduling passes since the daemon began.");
  text.row("partita_passes_total", "", static_cast<double>(controller.passes()));
  text.head("partita_fragmentation_ratio", "gauge",
            "Share of the queued work that fits no idle slice although enough compute slices are "
            "idle; 0 to 1.");
  text.row("partita_fragmentation_ratio", "", controller.fragmentation().ratio());
  const DiskView disk = around.disk();
  text.head("partita_disk_full", "gauge",
            "Whether the disk of the state is full: no job is taken or started.");
  text.row("partita_disk_full", "", disk.full ? 1 : 0);
  text.head("partita_disk_free_bytes", "gauge", "Bytes left on the disk of the state.");
  text.row("partita_disk_free_bytes", "", static_cast<double>(disk.free_bytes));
  write_gpus(text, controller, around);
  write_xids(text, controller);
  write_slice_counts(text, controller);
  write_slices(text, controller, around);
  return text.take();
}

}  // namespace partita::api
