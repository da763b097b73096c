// What the tests of the jobs' books share.
#pragma once

#include "launch/launcher.h"

namespace partita::control {

inline constexpr launch::Owner kAnna{1000, 1000};
inline constexpr launch::Owner kBen{1001, 1001};

}  // namespace partita::control
