#include "cli/output/console.h"

#include <fmt/format.h>
#include <unistd.h>

namespace partita::cli {
namespace {

// In one write, so that lines of two programs do not mix. Nobody can be told when it fails.
void say(const std::string& line) {
  FdWriter err(STDERR_FILENO, "standard error");
  err.write(line);
  err.flush();
}

}  // namespace

void warn(std::string_view sentence) {
  say(fmt::format("partita: warning: {}\n", sentence));
}

void complain(std::string_view sentence) {
  say(fmt::format("partita: {}\n", sentence));
}

}  // namespace partita::cli
