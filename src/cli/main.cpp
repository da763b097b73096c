#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>

#include "base/failpoint.h"
#include "cli/output/temporaries.h"
#include "cli/verbs/verbs.h"
#include "launch/attempt_files.h"
#include "launch/supervisor.h"

namespace {

// What the daemon calls to run one attempt of a job: `partita __supervise FOLDER KEY`.
int run_supervisor(const std::vector<std::string>& words) {
  if (const char* place = std::getenv("PARTITA_FAILPOINT")) {
    if (!partita::arm_failpoint(place).ok()) return 2;
  }
  const auto key = partita::launch::key_of(words[2]);
  return key ? partita::launch::supervise(words[1], *key) : 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (words.size() == 3 && words[0] == "__supervise") return run_supervisor(words);
  // A reader that goes away is seen as a failed write, and is no error.
  std::signal(SIGPIPE, SIG_IGN);
  partita::cli::remove_temporaries_on_signals();
  const char* no_color = std::getenv("NO_COLOR");
  partita::cli::Console console{
      partita::cli::FdWriter(STDOUT_FILENO, "standard output"),
      ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0'),
      ::isatty(STDERR_FILENO) == 1};
  try {
    return partita::cli::run_program(words, console);
  } catch (const std::bad_alloc&) {
    partita::cli::complain("there is not enough memory for this");
    return 2;
  } catch (const std::exception& error) {  // of a library: a fault of ours, but said in a sentence
    partita::cli::complain(error.what());
    return 2;
  }
}
