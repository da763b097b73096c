// Replays the seeds of one fuzz target, whole and a little changed, without a fuzzer: what a search
// found once stays found in every build. A target that fails ends the program.
#include "fuzz/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/rng.h"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr int kChangesPerSeed = 100;

std::vector<Bytes> read_seeds(const fs::path& folder) {
  std::vector<fs::path> paths;
  if (fs::is_directory(folder)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<Bytes> seeds(1);  // nothing at all is an input too
  for (const fs::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return seeds;
}

// One byte changed, one piece cut out or one piece said twice.
Bytes changed(const Bytes& seed, partita::Rng& rng) {
  Bytes bytes = seed;
  if (bytes.empty()) return {static_cast<std::uint8_t>(rng.below(256))};
  const auto at = static_cast<std::ptrdiff_t>(rng.below(bytes.size()));
  const auto to = std::min(std::ssize(bytes), at + 1 + static_cast<std::ptrdiff_t>(rng.below(16)));
  const Bytes piece(bytes.begin() + at, bytes.begin() + to);
  switch (rng.below(3)) {
    case 0:
      bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(rng.below(256));
      break;
    case 1:
      bytes.erase(bytes.begin() + at, bytes.begin() + to);
      break;
    default:
      bytes.insert(bytes.begin() + to, piece.begin(), piece.end());
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: fuzz_replay TARGET FOLDER\n");
    return 2;
  }
  const auto target = std::ranges::find(fuzz_targets(), argv[1], &FuzzTarget::name);
  if (target == fuzz_targets().end()) {
    fmt::print(stderr, "fuzz_replay: there is no target '{}'\n", argv[1]);
    return 2;
  }
  partita::Rng rng(1, 1);
  std::size_t inputs = 0;
  const auto run = [&](const Bytes& bytes) {
    target->run(bytes.data(), bytes.size());
    ++inputs;
  };
  for (const Bytes& seed : read_seeds(argv[2])) {
    run(seed);
    for (int i = 0; i < kChangesPerSeed; ++i) run(changed(seed, rng));
  }
  fmt::print("{}: {} inputs\n", target->name, inputs);
  return 0;
}
