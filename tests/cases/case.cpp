#include "cases/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "base/text.h"
#include "policies/registry.h"
#include "policies/repartitioners/static_layouts.h"

namespace partita::cases {
namespace {

using Mode = decide::Preemption::Mode;

std::string layouts_text(const mig::GpuModel& model, const std::vector<mig::Layout>& layouts) {
  std::string text;
  for (const mig::Layout& layout : layouts) {
    if (!text.empty()) text += ';';
    text += mig::format_layout(model, layout);
  }
  return text;
}

std::string preemption_text(const decide::Preemption& preemption) {
  if (preemption.mode == Mode::kFree) return "free";
  if (preemption.mode == Mode::kNone) return "none";
  const bool pays = preemption.mode == Mode::kPays;
  return (pays ? "pays=" : "cost=") + format_seconds(preemption.cost);
}

oracle::Interruption interruption_of(Mode mode) {
  switch (mode) {
    case Mode::kFree:
      return oracle::Interruption::kFree;
    case Mode::kNone:
      return oracle::Interruption::kNone;
    case Mode::kCost:
      return oracle::Interruption::kCost;
    case Mode::kPays:
      return oracle::Interruption::kPays;
  }
  return oracle::Interruption::kNone;
}

}  // namespace

const mig::GpuModel& model_of(const Case& each) {
  return **mig::find_gpu(each.gpu);
}

const mig::PowerCurve& power_of(const Case& each) {
  const mig::GpuModel& model = model_of(each);
  if (each.power.empty()) return model.power_curves.front();
  return **mig::find_power_curve(model, each.power);
}

sim::RunOptions options_of(const Case& each) {
  return {.model = &model_of(each),
          .gpus = static_cast<std::uint32_t>(each.layouts.size()),
          .power = &power_of(each),
          .preemption = each.preemption,
          .queue = {},
          .repartition_cost = each.repartition_cost,
          .memory = each.memory,
          .horizon = each.horizon,
          .et_a = each.et_a,
          .keep_jobs = true,
          .keep_schedule = true};
}

Result<sim::RunResult> run_engine(const Case& each) {
  return run_engine(each, options_of(each));
}

Result<sim::RunResult> run_engine(const Case& each, const sim::RunOptions& options) {
  auto scheduler = policies::make_scheduler(each.scheduler, each.seed);
  if (!scheduler) return scheduler.error();
  if (each.switches.empty()) {
    policies::StaticLayouts fixed(each.layouts);
    return sim::simulate(each.trace, options, **scheduler, fixed);
  }
  policies::Timetable timetable(each.switches);
  return sim::simulate(each.trace, options, **scheduler, timetable);
}

oracle::Setup oracle_setup(const Case& each) {
  oracle::Setup setup;
  setup.model = &model_of(each);
  setup.watts = power_of(each).watts;
  setup.layouts = each.layouts;
  for (const policies::TimetableSwitch& change : each.switches) {
    setup.switches.push_back({change.time_of_day, change.layouts});
  }
  oracle::set_scheduler(setup, each.scheduler);
  setup.seed = each.seed;
  setup.interruption = interruption_of(each.preemption.mode);
  setup.interruption_cost = each.preemption.cost;
  setup.memory_curves = each.trace.memory_curves;
  setup.restart = each.memory.restart;
  if (each.memory.early_restart) {
    const decide::EarlyRestart& rule = *each.memory.early_restart;
    setup.early = {rule.readings, rule.window, rule.least, rule.z, rule.confirmations};
  }
  setup.paper_cost = each.repartition_cost == sim::RepartitionCost::kPaper;
  setup.horizon = each.horizon;
  setup.et_a = each.et_a;
  return setup;
}

std::string to_text(const Case& each) {
  const mig::GpuModel& model = model_of(each);
  std::string text = fmt::format("gpu {}\ngpus {}\n", each.gpu, each.layouts.size());
  if (!each.power.empty()) text += fmt::format("power {}\n", each.power);
  text += fmt::format("scheduler {}\nseed {}\n", each.scheduler, each.seed);
  text += fmt::format("preemption {}\n", preemption_text(each.preemption));
  const bool paper = each.repartition_cost == sim::RepartitionCost::kPaper;
  text += fmt::format("repartition-cost {}\n", paper ? "paper" : "measured");
  text += fmt::format("restart {}\n", format_seconds(each.memory.restart));
  if (each.memory.early_restart) {
    const decide::EarlyRestart& rule = *each.memory.early_restart;
    text += fmt::format("early-restart {} {} {} {} {}\n", rule.readings, rule.window, rule.least,
                        rule.z, rule.confirmations);
  }
  text += fmt::format("horizon {}\net-a {}\n", format_seconds(each.horizon), each.et_a);
  if (each.switches.empty()) {
    text += fmt::format("repartition static:{}\n", layouts_text(model, each.layouts));
  }
  for (const policies::TimetableSwitch& change : each.switches) {
    text += fmt::format("switch {} {}\n", format_seconds(change.time_of_day),
                        layouts_text(model, change.layouts));
  }
  text += "#   id arrival deadline memory t1 t2 t3 t4 t7\n";
  for (std::uint32_t i = 0; i < each.trace.jobs.size(); ++i) {
    const workload::Job& job = each.trace.jobs[i];
    text += fmt::format("job {} {} {} {}", each.trace.id(JobId{i}), format_seconds(job.arrival),
                        format_seconds(job.deadline), job.memory_gib);
    for (const Micros time : job.time) {
      text += ' ' + (time == workload::kNoTime ? "-" : format_seconds(time));
    }
    text += '\n';
    if (!job.resumable) text += fmt::format("not-resumable {}\n", each.trace.id(JobId{i}));
    if (i >= each.trace.memory_curves.size() || !each.trace.memory_curves[i].grows()) continue;
    const workload::MemoryCurve& curve = each.trace.memory_curves[i];
    text += fmt::format("memory {} {} {} {} {}\n", each.trace.id(JobId{i}), curve.start_gib,
                        curve.peak_gib, curve.peak_at, curve.noise_gib);
  }
  return text;
}

std::string to_text(const Case& each, const sim::RunResult& result) {
  const mig::GpuModel& model = model_of(each);
  std::string text = fmt::format(
      "energy_j {} end_us {} jobs {} late {} mean {} p50 {} p95 {} p99 {} max {} wait {}\n"
      "compute {} memory {} events {} decisions {} preemptions {} repartitions {} created {} "
      "destroyed {} out of memory {} early restarts {} et {}\n",
      result.energy_j, result.end.count, result.jobs, result.late_jobs, result.mean_tardiness_s,
      result.p50_tardiness_s, result.p95_tardiness_s, result.p99_tardiness_s,
      result.max_tardiness_s, result.mean_wait_s, result.compute_utilisation,
      result.memory_utilisation, result.events, result.decisions, result.preemptions,
      result.repartitions, result.instances_created, result.instances_destroyed,
      result.out_of_memory, result.early_restarts, result.et);
  for (const sim::JobRecord& job : result.job_records) {
    text += fmt::format("job {} start {} completion {} deadline {} preemptions {} restarts {}\n",
                        job.id.value, job.first_start.count, job.completion.count,
                        job.deadline.count, job.preemptions, job.restarts);
  }
  std::vector<sim::SchedulePiece> pieces = result.schedule;
  std::ranges::sort(pieces, [](const sim::SchedulePiece& a, const sim::SchedulePiece& b) {
    return std::tie(a.begin, a.slice) < std::tie(b.begin, b.slice);
  });
  for (const sim::SchedulePiece& piece : pieces) {
    text += fmt::format(
        "piece {} gpu {} {} {} {}\n", piece.id.value, cluster::gpu_of(piece.slice).value,
        mig::format_placement(model, {piece.profile, cluster::start_of(piece.slice)}),
        piece.begin.count, piece.end.count);
  }
  for (const sim::LayoutPiece& piece : result.layouts) {
    text += fmt::format("layout gpu {} {} {} {}\n", piece.gpu.value, piece.begin.count,
                        piece.end.count, mig::format_layout(model, piece.layout));
  }
  return text;
}

}  // namespace partita::cases
