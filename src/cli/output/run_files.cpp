#include "cli/output/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "workload/csv.h"
#include "workload/job_csv.h"

namespace partita::cli {
namespace {

using workload::append_csv_field;
using workload::append_seconds;
using workload::Trace;

void write_schedule(FdWriter& out, const Trace& trace, const mig::GpuModel& model,
                    const std::vector<sim::SchedulePiece>& pieces) {
  const bool may_be_lost = !trace.memory_curves.empty();
  std::string line = "job,gpu,start_slot,profile,begin_s,end_s";
  line += may_be_lost ? ",lost\n" : "\n";
  for (const sim::SchedulePiece& piece : pieces) {
    if (!out.write(line)) return;
    line.clear();
    append_csv_field(line, trace.id(piece.id));
    line += fmt::format(",{},{},{},", cluster::gpu_of(piece.slice).value,
                        cluster::start_of(piece.slice), model.profiles[piece.profile].name);
    append_seconds(line, piece.begin);
    line += ',';
    append_seconds(line, piece.end);
    if (may_be_lost) line += piece.lost ? ",1" : ",0";
    line += '\n';
  }
  out.write(line);
}

void write_layouts(FdWriter& out, const mig::GpuModel& model,
                   const std::vector<sim::LayoutPiece>& pieces) {
  std::string line = "gpu,begin_s,end_s,layout\n";
  for (const sim::LayoutPiece& piece : pieces) {
    if (!out.write(line)) return;
    line = fmt::format("{},{},{},", piece.gpu.value, format_seconds(piece.begin),
                       format_seconds(piece.end));
    append_csv_field(line, mig::format_layout(model, piece.layout));
    line += '\n';
  }
  out.write(line);
}

void write_jobs(FdWriter& out, const Trace& trace, const std::vector<sim::JobRecord>& records) {
  std::string line =
      "job,class,arrival_s,deadline_s,first_start_s,completion_s,tardiness_s,"
      "preemptions\n";
  for (const sim::JobRecord& record : records) {
    if (!out.write(line)) return;
    line.clear();
    const workload::Job& job = trace.jobs[record.id.value];
    append_csv_field(line, trace.id(record.id));
    line += ',';
    append_csv_field(line, trace.class_names[job.job_class]);
    const Micros tardiness = std::max(Micros{}, record.completion - record.deadline);
    for (const Micros time :
         {job.arrival, record.deadline, record.first_start, record.completion, tardiness}) {
      line += ',';
      append_seconds(line, time);
    }
    line += fmt::format(",{}\n", record.preemptions);
  }
  out.write(line);
}

std::string real_path(const std::string& path) {
  std::error_code failed;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path), failed).string();
}

// The names must differ from each other and from the files that are read, or one would overwrite
// another.
Status check_distinct(const Values& values, std::span<const std::string_view> names) {
  std::vector<std::string> paths;
  for (const std::string_view input : {"jobs", "scenario"}) {
    if (values.given(input) != nullptr) paths.push_back(real_path(values.text(input)));
  }
  for (const std::string_view name : names) {
    if (values.given(name) == nullptr) continue;
    const std::string path = values.text(name);
    const std::string real = real_path(path);
    if (path == "-") {
      return Error{fmt::format("--{}: standard output holds the result; give a file", name)};
    }
    if (std::find(paths.begin(), paths.end(), real) != paths.end() && path != "/dev/null") {
      return Error{fmt::format("--{}: {} is already the file of another flag", name, path)};
    }
    paths.push_back(real);
  }
  return {};
}

}  // namespace

Result<RunFiles> RunFiles::open(const Values& values) {
  constexpr std::array<std::string_view, 4> kNames{"schedule", "layouts", "job-records", "report"};
  const Status distinct = check_distinct(values, kNames);
  if (!distinct) return distinct.error();
  RunFiles files;
  const std::array<std::unique_ptr<OutputFile>*, 4> places{&files.schedule_, &files.layouts_,
                                                           &files.jobs_, &files.report_};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (values.given(kNames[i]) == nullptr) continue;
    auto file = OutputFile::open(values.text(kNames[i]));
    if (!file) return file.error();
    *places[i] = *std::move(file);
  }
  return files;
}

Status RunFiles::write(const Trace& trace, const sim::RunOptions& options,
                       const sim::RunResult& result, std::string_view page) {
  if (schedule_) write_schedule(schedule_->writer(), trace, *options.model, result.schedule);
  if (layouts_) write_layouts(layouts_->writer(), *options.model, result.layouts);
  if (jobs_) write_jobs(jobs_->writer(), trace, result.job_records);
  if (report_) report_->writer().write(page);
  const std::array all{schedule_.get(), layouts_.get(), jobs_.get(), report_.get()};
  // Everything is on disk before the first name appears.
  for (OutputFile* file : all) {
    if (file != nullptr && !file->writer().flush()) return file->writer().status();
  }
  for (OutputFile* file : all) {
    if (file == nullptr) continue;
    const Status done = file->commit();
    if (!done) return done;
  }
  return {};
}

}  // namespace partita::cli
