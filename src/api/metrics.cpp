#include <fmt/format.h>

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
      const control::GpuReading& reading = controller.reading(GpuId{i});
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
          fmt::format("{},GPU_I_ID=\"{}\",GPU_I_PROFILE={},job=\"{}\"",
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

}  // namespace

std::string metrics_text(const control::Controller& controller, const Surroundings& around) {
  Text text;
  text.head("partita_jobs", "gauge", "Jobs by state.");
  for (std::size_t i = 0; i < control::kJobStates; ++i) {
    const auto state = static_cast<control::JobState>(i);
    text.row("partita_jobs", fmt::format("state=\"{}\"", control::name_of(state)),
             static_cast<double>(controller.count(state)));
  }
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
  write_slices(text, controller, around);
  return text.take();
}

}  // namespace partita::api
