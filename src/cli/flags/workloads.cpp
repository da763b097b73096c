#include "cli/flags/workloads.h"

#include <fmt/format.h>

#include <optional>

#include "base/check.h"
#include "cli/flags/generator_options.h"
#include "cli/output/progress_bar.h"
#include "workload/job_csv.h"
#include "workload/readers/registry.h"

namespace partita::cli {
namespace {

using workload::JobRow;
using workload::JobSource;
using Source = Result<std::unique_ptr<JobSource>>;

// A source with a limit on its jobs, and with someone watching how far it is.
class WatchedSource final : public JobSource {
 public:
  WatchedSource(JobSource& source, std::optional<std::uint64_t> jobs_max, bool shows_progress,
                std::string_view what)
      : source_(source), bar_(shows_progress, std::string(what)), jobs_left_(jobs_max) {}

  Result<bool> next(JobRow& row) override {
    constexpr std::uint64_t kRowsPerReport = 4'096;
    if (jobs_left_ && *jobs_left_ == 0) return false;
    Result<bool> more = source_.next(row);
    if (!more || !*more) return more;
    if (jobs_left_) --*jobs_left_;
    if (++rows_ % kRowsPerReport == 0) bar_.at(source_.progress());
    return more;
  }

 private:
  JobSource& source_;
  ProgressBar bar_;
  std::optional<std::uint64_t> jobs_left_;
  std::uint64_t rows_ = 0;
};

void pass_on_warnings(const JobSource& source) {
  for (const std::string& sentence : source.warnings()) warn(sentence);
}

Micros window_end(const Values& values, std::string_view origin) {
  if (origin == "trace" || origin == "migm") return {};
  if (origin == "poisson" && values.given("hours") == nullptr) return {};
  const double hours = values.given("hours") != nullptr ? values.number("hours") : 24;
  return micros_from_seconds(hours * 3600);
}

// Jobs in the native format say everything themselves.
Status check_native(const JobSource& source, const Values& values) {
  if (dynamic_cast<const workload::CsvJobSource*>(&source) == nullptr) return {};
  for (const auto& [name, value] : values.all()) {
    const FlagRecord* flag = find_flag(name);
    if (!value.typed || flag->only_for.find("trace") == std::string_view::npos) continue;
    if (name == "skip-bad-rows" || name == "dialect") continue;
    if (name == "window" || name == "sample") continue;  // of the days, not of the rows
    return Error{fmt::format("{} is for traces; jobs in the native format say this themselves",
                             value.place)};
  }
  return {};
}

// A generator whose options are read, and lack only the seed.
using Generator = std::function<Source(std::uint64_t seed)>;

template <typename Options>
Generator seeded(Source (*make)(const Options&), Options options) {
  return [make, options = std::move(options)](std::uint64_t seed) {
    Options of_seed = options;
    of_seed.seed = seed;
    return make(of_seed);
  };
}

Result<Generator> generator_of(const Values& values) {
  const std::string kind = values.given("kind") != nullptr ? values.text("kind") : "papers";
  const Status applies = check_applies(values, kind);
  if (!applies) return applies.error();
  if (kind == "migm") return seeded(workload::make_migm, migm_options(values));
  if (kind == "papers") return seeded(workload::make_papers, papers_options(values));
  if (kind == "poisson") return seeded(workload::make_poisson, poisson_options(values));
  CHECK(kind == "realistic");
  return seeded(workload::make_realistic, realistic_options(values));
}

std::optional<std::uint64_t> jobs_max(const Values& values) {
  if (values.given("max-jobs") == nullptr) return {};
  return values.count("max-jobs");
}

}  // namespace

Source make_generator(const Values& values) {
  const auto generator = generator_of(values);
  if (!generator) return generator.error();
  return (*generator)(values.count("seed"));
}

Source open_jobs(const Values& values) {
  const Status applies = check_applies(values, "trace");
  if (!applies) return applies.error();
  const std::string dialect = values.given("dialect") != nullptr ? values.text("dialect") : "";
  Source source = workload::open_trace(workload::Input::file(values.text("jobs")),
                                       reader_options(values), dialect);
  if (!source) return source;
  const Status native = check_native(**source, values);
  if (!native) return native.error();
  return source;
}

Result<RunJobs> read_run_jobs(const Values& values, const Console& console) {
  const auto origin = job_origin(values);
  if (!origin) return origin.error();
  if (!origin->has_value()) {
    return Error{"there are no jobs: give --jobs FILE, or a --scenario or --kind that makes them"};
  }
  const bool from_file = **origin == "trace";
  Source source = from_file ? open_jobs(values) : make_generator(values);
  if (!source) return source.error();
  Result<workload::Trace> trace = [&] {
    WatchedSource watched(**source, jobs_max(values), console.shows_progress,
                          from_file ? "reading" : "generating");
    return workload::read_all(watched);
  }();
  if (!trace) return trace.error();
  pass_on_warnings(**source);
  return RunJobs{*std::move(trace), window_end(values, **origin)};
}

Result<DayMaker> make_days_of_generator(const Values& values) {
  auto generator = generator_of(values);
  if (!generator) return generator.error();
  return DayMaker([make = *std::move(generator),
                   most = jobs_max(values)](std::uint64_t seed) -> Result<workload::Trace> {
    Source source = make(seed);
    if (!source) return source.error();
    WatchedSource limited(**source, most, false, "");
    return workload::read_all(limited);
  });
}

Result<CopiedJobs> copy_jobs(JobSource& source, const Values& values, FdWriter& out,
                             const Console& console) {
  WatchedSource watched(source, jobs_max(values), console.shows_progress, "writing");
  CopiedJobs copied;
  std::string line;
  const workload::OptionalColumns columns{.memory = source.has_memory_curves(),
                                          .resumable = source.says_resumable(),
                                          .user = source.says_users(),
                                          .priority = source.says_priorities()};
  workload::write_header(line, columns);
  JobRow row;
  while (out.write(line)) {
    const Result<bool> more = watched.next(row);
    if (!more) return more.error();
    if (!*more) {
      pass_on_warnings(source);
      return copied;
    }
    line.clear();
    workload::write_row(line, row, columns);
    const Micros arrival = row.job.arrival;
    copied.first_arrival = copied.jobs == 0 ? arrival : std::min(copied.first_arrival, arrival);
    copied.last_arrival = copied.jobs == 0 ? arrival : std::max(copied.last_arrival, arrival);
    ++copied.jobs;
  }
  return out.status().error();
}

}  // namespace partita::cli
