#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>

#include "cli/temporaries.h"
#include "cli/verbs.h"

int main(int argc, char** argv) {
  // A reader that goes away is seen as a failed write, and is no error.
  std::signal(SIGPIPE, SIG_IGN);
  partita::cli::remove_temporaries_on_signals();
  const char* no_color = std::getenv("NO_COLOR");
  partita::cli::Console console{
      partita::cli::FdWriter(STDOUT_FILENO, "standard output"),
      ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0'),
      ::isatty(STDERR_FILENO) == 1};
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    return partita::cli::run_program(words, console);
  } catch (const std::bad_alloc&) {
    partita::cli::complain("there is not enough memory for this");
    return 2;
  }
}
