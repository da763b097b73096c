#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "store/memory_store.h"
#include "store/sqlite_store.h"

namespace {

namespace fs = std::filesystem;
using namespace partita::store;

Batch some_batch(std::int64_t number) {
  Batch batch;
  JobRow job;
  job.progress = {{number}, number % 9, 1, 2.5, number * 1000, "a reason"};
  job.uid = 1000;
  job.name = "name";
  job.key = "key-" + std::to_string(number);
  job.spec = std::string(60, 'x');
  batch.new_jobs.push_back(job);
  AttemptRow attempt;
  attempt.job = {number};
  attempt.number = 1;
  attempt.gpu = "GPU-1";
  batch.attempts.push_back(attempt);
  batch.instances.push_back({"GPU-1", number % 8, "1g.5gb", "MIG-1", 1, number});
  batch.intents.push_back({"launch", std::to_string(number), number});
  batch.events.push_back({number, number, {number}, "submitted", "text"});
  batch.peaks.push_back({1000, "name", 1.5});
  batch.turns.push_back({number, number, TurnKind::kStep, 7, "inputs"});
  return batch;
}

// A store that was closed: its bytes, and what it holds.
struct Original {
  Original() {
    std::string name = (fs::temp_directory_path() / "partita-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder = name;
    auto store = open_store(folder, {});
    if (!store) std::abort();
    for (std::int64_t i = 1; i <= 20; ++i) {
      if (!(*store)->commit(some_batch(i)).ok()) std::abort();
    }
    contents = *(*store)->load();
    store->reset();
    std::ifstream in(store_file(folder), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  ~Original() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  std::string folder;
  std::string bytes;
  Contents contents;
};

const Original& original() {
  static const Original one;
  return one;
}

template <typename Row>
bool all_were_written(const std::vector<Row>& rows, const std::vector<Row>& written) {
  return std::ranges::all_of(
      rows, [&](const Row& row) { return std::ranges::find(written, row) != written.end(); });
}

}  // namespace

// The input is damage to a good file: where (three bytes) and what (one byte); a last odd pair cuts
// it off. The file is refused, or nothing in it was invented.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Original& good = original();
  std::string bytes = good.bytes;
  for (; size >= 4; data += 4, size -= 4) {
    const std::size_t at = (data[0] << 16U | data[1] << 8U | data[2]) % bytes.size();
    bytes[at] = static_cast<char>(data[3]);
  }
  if (size >= 2) bytes.resize((data[0] << 8U | data[1]) * bytes.size() / 0xffff);
  const std::string file = store_file(good.folder);
  fs::remove(file + "-wal");
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  const auto store = open_store(good.folder, {});
  if (!store) return 0;
  const auto contents = (*store)->load();
  if (!contents) return 0;
  const bool true_to_it = all_were_written(contents->jobs, good.contents.jobs) &&
                          all_were_written(contents->attempts, good.contents.attempts) &&
                          all_were_written(contents->instances, good.contents.instances);
  if (!true_to_it) std::abort();
  if (!(*store)->turns(0, 100)) return 0;
  return 0;
}
