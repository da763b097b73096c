#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "cli/flags/command_line.h"
#include "cli/flags/value_parsers.h"
#include "mig/gpu_model.h"
#include "policies/registry.h"

namespace {

using partita::cli::FlagRecord;

// Every value parser on the same text; what preemption reads it must write back alike.
void parse_value(std::string_view text) {
  for (const FlagRecord& flag : partita::cli::flag_records()) {
    const auto checked = partita::cli::parse_value(flag, text);
    CHECK(checked.ok() || !checked.error().message.empty());
  }
  const auto preemption = partita::cli::parse_preemption(text);
  if (preemption) {
    const std::string shown = partita::cli::format_preemption(*preemption);
    const auto again = partita::cli::parse_preemption(shown);
    CHECK(again.ok());
    CHECK(again->cost == preemption->cost);
  }
  for (const char* gpu : {"a30-24gb", "a100-40gb"}) {
    const auto made = partita::policies::make_repartitioner(text, **partita::mig::find_gpu(gpu), 2);
    CHECK(made.ok() || !made.error().message.empty());
  }
}

}  // namespace

// The first line is a value; all lines are the words of a command line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::size_t kBytesMax = 4096;  // longer ones only take longer
  if (text.size() > kBytesMax) return 0;
  const std::vector<std::string_view> lines = partita::split(text, '\n');
  parse_value(lines.front());
  const std::vector<std::string> words(lines.begin(), lines.end());
  const auto command = partita::cli::parse_command_line(words);
  CHECK(command.ok() || !command.error().message.empty());
  return 0;
}
