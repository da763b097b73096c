#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/flags/generator_options.h"
#include "cli/flags/workloads.h"
#include "cli/output/output_file.h"
#include "cli/text/run_report.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

using workload::JobSource;

void print_copied(const CopiedJobs& copied, const std::string& path, Console& console) {
  nlohmann::ordered_json json;
  json["out"] = path;
  json["jobs"] = copied.jobs;
  json["first_arrival_s"] = seconds_of(copied.first_arrival);
  json["last_arrival_s"] = seconds_of(copied.last_arrival);
  print_json(console, json);
}

// The jobs of `source` to --out; with --json what was written is told on stdout.
Outcome write_jobs(JobSource& source, const Values& values, Console& console) {
  const std::string path = values.text("out");
  if (path == "-") {
    if (values.has_switch("json")) {
      return Error{"--json needs --out FILE, because the jobs themselves go to standard output"};
    }
    const auto copied = copy_jobs(source, values, console.out, console);
    if (!copied) return copied.error();
    return 0;
  }
  auto file = OutputFile::open(path);
  if (!file) return file.error();
  const auto copied = copy_jobs(source, values, (*file)->writer(), console);
  if (!copied) return copied.error();
  const Status written = (*file)->commit();
  if (!written) return written.error();
  if (values.has_switch("json")) print_copied(*copied, path, console);
  return 0;
}

}  // namespace

Outcome run_generate(const Values& values, Console& console) {
  const auto origin = job_origin(values);
  if (!origin) return origin.error();
  if (*origin == "trace") {
    return Error{fmt::format("{} is a file of jobs: there is nothing to generate",
                             values.given("jobs")->place)};
  }
  const auto source = make_generator(values);
  if (!source) return source.error();
  return write_jobs(**source, values, console);
}

Outcome run_convert(const Values& values, Console& console) {
  if (values.given("jobs") == nullptr) {
    return Error{"there is nothing to convert: give --jobs FILE, or - for standard input"};
  }
  const auto source = open_jobs(values);
  if (!source) return source.error();
  return write_jobs(**source, values, console);
}

}  // namespace partita::cli
