// Pieces: what mean-field+ has that the published systems lack, each of which can be left out by
// name to see what it is worth.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "learn/systems.h"

namespace partita::learn {

struct Piece {
  std::string_view name;
  std::string_view summary;  // what it is; leaving it out gives what the papers do
  void (*leave_out)(System& system);
};

std::span<const Piece> pieces();

// The system without the pieces of a list NAME,NAME,...; the error lists the known ones.
Result<System> without_pieces(System system, std::string_view names);

}  // namespace partita::learn
