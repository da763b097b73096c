// The store: durable commits of several sizes, and opening it with 100,000 jobs.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/check.h"
#include "store/sqlite_store.h"

namespace partita::store {
namespace {

std::string make_folder() {
  std::string name = (std::filesystem::current_path() / "store-bench-XXXXXX").string();
  CHECK(::mkdtemp(name.data()) != nullptr);
  return name;
}

JobRow job_row(std::int64_t id) {
  JobRow row;
  row.progress = {{id}, 0, 0, 4.5, id, "submitted"};
  row.submitted_us = id;
  row.uid = 1000;
  row.name = "train";
  row.key = std::to_string(id);
  row.spec = std::string(200, 'x');
  return row;
}

// As a loop turn writes them: `jobs` submissions with an event each.
void commit_jobs(Store& store, std::int64_t& next, std::int64_t jobs) {
  Batch batch;
  for (std::int64_t i = 0; i < jobs; ++i) {
    ++next;
    batch.new_jobs.push_back(job_row(next));
    batch.events.push_back({next, next, {next}, "submitted", "by uid 1000"});
  }
  CHECK(store.commit(batch).ok());
}

void durable_submissions(benchmark::State& state) {
  const std::string folder = make_folder();
  std::int64_t next = 0;
  {
    auto store = open_store(folder, {});
    CHECK(store.ok());
    for (auto _ : state) commit_jobs(**store, next, state.range(0));
  }
  state.SetItemsProcessed(next);
  std::filesystem::remove_all(folder);
}
BENCHMARK(durable_submissions)->Arg(1)->Arg(8)->Arg(64)->Arg(512)->UseRealTime();

void open_and_load(benchmark::State& state) {
  const std::string folder = make_folder();
  {
    auto store = open_store(folder, {});
    CHECK(store.ok());
    std::int64_t next = 0;
    while (next < state.range(0)) commit_jobs(**store, next, 10'000);
  }
  for (auto _ : state) {
    auto store = open_store(folder, {});
    CHECK(store.ok());
    const auto contents = (*store)->load();
    CHECK(contents.ok() && contents->jobs.size() == static_cast<std::size_t>(state.range(0)));
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK(open_and_load)->Arg(100'000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace partita::store
