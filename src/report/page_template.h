// The page without data, as web/report builds it; it travels inside the program.
#pragma once

#include <string_view>

namespace partita::report {

// Empty when the program was built without npm.
std::string_view page_template();

}  // namespace partita::report
