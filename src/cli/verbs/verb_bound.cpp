#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/whole_file.h"
#include "bounds/certificate.h"
#include "bounds/problem.h"
#include "bounds/report.h"
#include "cli/flags/run_settings.h"
#include "cli/flags/workloads.h"
#include "cli/output/output_file.h"
#include "cli/text/bound_report.h"
#include "cli/text/bound_windows_text.h"
#include "cli/text/run_report.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "mig/gpu_model.h"

namespace partita::cli {
namespace {

using bounds::Bound;
using bounds::BoundReport;
using bounds::Certificate;
using bounds::Kind;
using bounds::Problem;
using bounds::Subject;

struct Question {
  bounds::Fleet fleet;
  Subject subject;
  RunJobs jobs;
};

// What a run with this preemption lets jobs do, as bounds have it: only `none` runs them whole.
bounds::Runs runs_of(const decide::Preemption& preemption) {
  const bool whole = preemption.mode == decide::Preemption::Mode::kNone;
  return whole ? bounds::Runs::kWhole : bounds::Runs::kSplit;
}

Result<Question> question_of(const Values& values, Console& console) {
  Question question;
  const mig::GpuModel& model = *values.as<const mig::GpuModel*>("gpu");
  const auto power = power_of(values, model);
  if (!power) return power.error();
  auto jobs = read_run_jobs(values, console);
  if (!jobs) return jobs.error();
  question.jobs = *std::move(jobs);
  bounds::Fleet& fleet = question.fleet;
  fleet.model = &model;
  fleet.power = *power;
  fleet.gpus = static_cast<std::uint32_t>(values.count("gpus"));
  fleet.horizon = horizon_of(values, question.jobs.window_end);
  question.subject = {fleet.model->key,
                      fleet.power->name,
                      fleet.gpus,
                      question.jobs.trace.jobs.size(),
                      fleet.horizon,
                      values.number("et-a"),
                      runs_of(values.as<decide::Preemption>("preemption"))};
  return question;
}

nlohmann::ordered_json subject_json(const Subject& subject) {
  nlohmann::ordered_json json;
  json["gpu"] = subject.gpu;
  json["power"] = subject.power;
  json["gpus"] = subject.gpus;
  json["jobs"] = subject.jobs;
  json["horizon_s"] = seconds_of(subject.horizon);
  json["et_a"] = subject.et_a;
  json["preemption"] = subject.runs == bounds::Runs::kWhole ? "none" : "any";
  return json;
}

nlohmann::ordered_json best_json(const BoundReport& report, Kind kind) {
  const Bound* best = report.best(kind);
  if (best == nullptr) return nullptr;
  return best->value;
}

nlohmann::ordered_json report_json(const Subject& subject, const BoundReport& report,
                                   double wall_s) {
  nlohmann::ordered_json json = subject_json(subject);
  json["energy_bound_j"] = best_json(report, Kind::kEnergy);
  json["tardiness_bound_s"] = best_json(report, Kind::kTardiness);
  json["et_bound"] = best_json(report, Kind::kEt);
  json["bounds"] = nlohmann::ordered_json::array();
  for (const Bound& bound : report.bounds) {
    nlohmann::ordered_json one;
    one["kind"] = bounds::name_of(bound.kind);
    one["name"] = bound.name;
    one["value"] = bound.skipped() ? nlohmann::ordered_json() : nlohmann::ordered_json(bound.value);
    one["status"] = bound.status;
    one["wall_s"] = bound.seconds;
    if (bound.word) {
      one["solver"] = {{"name", bound.word->solver},
                       {"value", bound.word->value},
                       {"status", bound.word->status}};
    }
    json["bounds"].push_back(std::move(one));
  }
  json["wall_s"] = wall_s;
  return json;
}

std::string shown_value(Kind kind, double value) {
  switch (kind) {
    case Kind::kEnergy:
      return fmt::format("{:.3f} kWh  ({} W·min)", value / 3.6e6,
                         with_commas(static_cast<std::uint64_t>(value / 60)));
    case Kind::kTardiness:
      return fmt::format("{:.3f} min  ({:.1f} s)", value / 60, value);
    case Kind::kEt:
      break;
  }
  return fmt::format("{:.6g}", value);
}

std::string heading(const Subject& subject) {
  return fmt::format(
      "{} jobs on {} x {}, power {}; energy at least up to {}; ET with a = {:g}; {}\n\n",
      with_commas(subject.jobs), with_commas(subject.gpus), subject.gpu, subject.power,
      shown_seconds(subject.horizon.to_seconds()), subject.et_a,
      subject.runs == bounds::Runs::kWhole ? "no preemption" : "any preemption");
}

std::string report_text(const Subject& subject, const BoundReport& report, bool bold) {
  Table table({{"no schedule has less", Align::kLeft},
               {"bound", Align::kLeft},
               {"", Align::kLeft},
               {"s", Align::kRight},
               {"status", Align::kLeft}});
  for (const Bound& bound : report.bounds) {
    table.add({std::string(bounds::name_of(bound.kind)), bound.name,
               bound.skipped() ? "-"
                               : shown_value(bound.kind, bound.value) +
                                     (&bound == report.best(bound.kind) ? "  *" : ""),
               fmt::format("{:.1f}", bound.seconds), bound.status});
  }
  return heading(subject) + table.text(bold) + "\n* the best of its kind\n";
}

std::vector<Kind> kinds_of(const Values& values) {
  if (values.given("bound-kind") == nullptr) return bounds::Request{}.kinds;
  return {values.as<Kind>("bound-kind")};
}

Status write_certificate(const Values& values, const Question& question, const BoundReport& report,
                         const Problem& problem) {
  if (values.given("certificate") == nullptr) return {};
  return write_output(values.text("certificate"),
                      bounds::to_text({question.subject, report.bounds}, problem));
}

Outcome find(const Values& values, Console& console, const Question& question,
             const Problem& problem) {
  bounds::Request request;
  request.kinds = kinds_of(values);
  request.et_a = question.subject.et_a;
  request.runs = question.subject.runs;
  request.seconds_max = values.number("time-limit");
  request.clock = clock_seconds;
  const double begin = clock_seconds();
  const BoundReport report = bounds::find_bounds(problem, request);
  const double wall_s = clock_seconds() - begin;
  const Status written = write_certificate(values, question, report, problem);
  if (!written) return written.error();
  return print_either(values, console, report_json(question.subject, report, wall_s),
                      report_text(question.subject, report, console.bold));
}

// What is not given is the certificate's to say.
Status check_subject(const Values& values, const Subject& certificate, const Subject& question) {
  const auto differs = [](std::string_view what, const auto& theirs, const auto& ours) {
    return Error{
        fmt::format("the certificate is about {} {}, the command about {}", what, theirs, ours)};
  };
  if (certificate.gpu != question.gpu) return differs("--gpu", certificate.gpu, question.gpu);
  if (certificate.power != question.power) {
    return differs("--power", certificate.power, question.power);
  }
  if (certificate.gpus != question.gpus) return differs("--gpus", certificate.gpus, question.gpus);
  if (certificate.jobs != question.jobs) {
    return differs("a number of jobs of", certificate.jobs, question.jobs);
  }
  if (values.given("et-a") != nullptr && certificate.et_a != question.et_a) {
    return differs("--et-a", certificate.et_a, question.et_a);
  }
  if (values.given("horizon") != nullptr && certificate.horizon != question.horizon) {
    return differs("--horizon", certificate.horizon.to_seconds(), question.horizon.to_seconds());
  }
  // What holds of every schedule holds of those without preemption; not the other way round.
  if (values.given("preemption") != nullptr && certificate.runs == bounds::Runs::kWhole &&
      question.runs != bounds::Runs::kWhole) {
    return differs("--preemption", "none", values.text("preemption"));
  }
  return {};
}

std::string verdicts_text(const Subject& subject, const std::vector<bounds::Verdict>& verdicts,
                          bool bold) {
  Table table({{"no schedule has less", Align::kLeft},
               {"bound", Align::kLeft},
               {"claimed", Align::kLeft},
               {"proven", Align::kLeft},
               {"", Align::kLeft}});
  for (const bounds::Verdict& verdict : verdicts) {
    table.add({std::string(bounds::name_of(verdict.kind)), verdict.name,
               shown_value(verdict.kind, verdict.claimed),
               verdict.proven > 0 ? shown_value(verdict.kind, verdict.proven) : "-",
               verdict.holds ? "holds" : verdict.why});
  }
  return heading(subject) + table.text(bold);
}

nlohmann::ordered_json verdicts_json(const Subject& subject,
                                     const std::vector<bounds::Verdict>& verdicts) {
  nlohmann::ordered_json json = subject_json(subject);
  json["verified"] = nlohmann::ordered_json::array();
  for (const bounds::Verdict& verdict : verdicts) {
    json["verified"].push_back({{"kind", bounds::name_of(verdict.kind)},
                                {"name", verdict.name},
                                {"claimed", verdict.claimed},
                                {"proven", verdict.proven},
                                {"holds", verdict.holds},
                                {"why", verdict.why}});
  }
  return json;
}

Outcome verify(const Values& values, Console& console, Question question) {
  if (values.given("certificate") != nullptr) {
    return Error{"--certificate writes a certificate and --verify reads one; give one of them"};
  }
  const auto text = read_whole_file(values.text("verify"));
  if (!text) return text.error();
  const auto certificate = bounds::parse_certificate(*text);
  if (!certificate) return values.wrong("verify", certificate.error());
  if (certificate->bounds.empty()) return values.wrong("verify", Error{"it claims no bound"});
  const Status same = check_subject(values, certificate->subject, question.subject);
  if (!same) return values.wrong("verify", same.error());
  question.fleet.horizon = certificate->subject.horizon;
  const auto problem = bounds::make_problem(question.jobs.trace, question.fleet);
  if (!problem) return problem.error();
  const std::vector<bounds::Verdict> verdicts = bounds::verify(*certificate, *problem);
  print_either(values, console, verdicts_json(certificate->subject, verdicts),
               verdicts_text(certificate->subject, verdicts, console.bold));
  return std::ranges::all_of(verdicts, &bounds::Verdict::holds) ? 0 : 1;
}

Outcome compare_windows(const Values& values, Console& console, const Question& question) {
  if (question.subject.runs != bounds::Runs::kWhole) {
    return Error{"--windows is about schedules that never interrupt a job; give --preemption none"};
  }
  const std::size_t jobs = values.count("windows");
  const auto compared = experiment::window_bounds(question.jobs.trace, question.fleet, jobs,
                                                  {values.number("time-limit"), clock_seconds});
  if (!compared) return compared.error();
  return print_either(values, console, windows_json(*compared),
                      windows_text(*compared, console.bold));
}

}  // namespace

Outcome run_bound(const Values& values, Console& console) {
  auto question = question_of(values, console);
  if (!question) return question.error();
  if (values.given("verify") != nullptr) return verify(values, console, *std::move(question));
  if (question->jobs.trace.jobs.empty()) return Error{"there are no jobs to bound anything for"};
  if (values.given("windows") != nullptr) return compare_windows(values, console, *question);
  const auto problem = bounds::make_problem(question->jobs.trace, question->fleet);
  if (!problem) {
    complain(problem.error().message);
    return 1;
  }
  return find(values, console, *question, *problem);
}

}  // namespace partita::cli
