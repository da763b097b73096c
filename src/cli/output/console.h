// Console: the three things a verb may say: data on stdout, warnings and progress on stderr.
#pragma once

#include <string_view>

#include "cli/output/fd_writer.h"

namespace partita::cli {

struct Console {
  FdWriter out;
  bool bold = false;            // stdout is a terminal, and NO_COLOR is not set
  bool shows_progress = false;  // stderr is a terminal
};

// "partita: warning: ..." on stderr.
void warn(std::string_view sentence);
// "partita: ..." on stderr.
void complain(std::string_view sentence);

}  // namespace partita::cli
