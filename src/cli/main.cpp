#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cli/verbs.h"

int main(int argc, char** argv) {
  // A reader that goes away is seen as a failed write, and is no error.
  std::signal(SIGPIPE, SIG_IGN);
  const char* no_color = std::getenv("NO_COLOR");
  partita::cli::Console console{
      partita::cli::FdWriter(STDOUT_FILENO, "standard output"),
      ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0'),
      ::isatty(STDERR_FILENO) == 1};
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return partita::cli::run_program(words, console);
}
