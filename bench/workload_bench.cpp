// Speed of making, writing and reading jobs, in rows a second.

#include <benchmark/benchmark.h>

#include <string>

#include "base/check.h"
#include "workload/bytes.h"
#include "workload/generators/papers.h"
#include "workload/job_csv.h"
#include "workload/job_source.h"

namespace partita {
namespace {

using workload::JobRow;

std::unique_ptr<workload::JobSource> papers_source() {
  workload::PapersOptions options;
  options.rate = 500;  // about 104,000 jobs
  options.seed = 7;
  auto source = workload::make_papers(options);
  CHECK(source.ok());
  return *std::move(source);
}

std::string papers_csv() {
  std::string text;
  workload::write_header(text);
  const auto source = papers_source();
  JobRow row;
  while (*source->next(row)) workload::write_row(text, row);
  return text;
}

void generate_rows(benchmark::State& state) {
  std::int64_t rows = 0;
  for (auto _ : state) {
    const auto source = papers_source();
    JobRow row;
    while (*source->next(row)) ++rows;
  }
  state.SetItemsProcessed(rows);
}
BENCHMARK(generate_rows)->Unit(benchmark::kMillisecond);

void read_csv_rows(benchmark::State& state) {
  const std::string text = papers_csv();
  std::int64_t rows = 0;
  for (auto _ : state) {
    auto source = workload::CsvJobSource::open(workload::Input::memory(text, "jobs.csv"));
    CHECK(source.ok());
    JobRow row;
    while (*(*source)->next(row)) ++rows;
  }
  state.SetItemsProcessed(rows);
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) *
                          static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(read_csv_rows)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace partita
