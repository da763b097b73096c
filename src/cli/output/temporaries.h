// Temporary files that must not outlive the program, not even when a signal ends it.
#pragma once

#include <string>

namespace partita::cli {

// A few at a time, which is what one command writes; a name that is too long or one too many is
// not remembered, and only a signal would leave it behind.
void remember_temporary(const std::string& path);
void forget_temporary(const std::string& path);

// From now on SIGHUP, SIGINT and SIGTERM remove what is remembered, and then end the program as
// they would have.
void remove_temporaries_on_signals();

}  // namespace partita::cli
