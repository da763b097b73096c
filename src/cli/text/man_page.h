// The manual page in roff, made from the flag records.
#pragma once

#include <string>

namespace partita::cli {

std::string man_page();

}  // namespace partita::cli
