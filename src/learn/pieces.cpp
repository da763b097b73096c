#include "learn/pieces.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace partita::learn {
namespace {

constexpr std::array kPieces = std::to_array<Piece>({
    {"backlog", "jobs and work are counted, not only their shares",
     [](System& system) { system.encoding = policies::Encoding::kMeanField; }},
    {"change-costs", "what a change costs is paid in training as it will be",
     [](System& system) { system.pays_for_changes = false; }},
    {"early-tardiness", "tardiness is charged when it becomes unavoidable",
     [](System& system) { system.early_tardiness = false; }},
    {"evolution", "whole days are judged by the score that is reported, without a discount",
     [](System& system) { system.evolution.steps = 0; }},
    {"mixes", "a menu of mixes, not of single layouts", [](System& system) { system.menu = ""; }},
    {"one-target", "one target for the fleet, not a draw for each GPU",
     [](System& system) {
       system.pick = policies::MixPick::kDraw;
       system.menu = "";
       system.top = 3;
     }},
    {"reluctance", "no change before the mix is off by more than a GPU and a half",
     [](System& system) { system.reluctance = 0; }},
});

}  // namespace

std::span<const Piece> pieces() {
  return kPieces;
}

Result<System> without_pieces(System system, std::string_view names) {
  for (const std::string_view part : split(names, ',')) {
    const std::string_view name = trim(part);
    const auto found = std::ranges::find(kPieces, name, &Piece::name);
    if (found == kPieces.end()) {
      std::vector<std::string> known;
      for (const Piece& piece : kPieces) known.emplace_back(piece.name);
      return unknown_name("piece", name, known);
    }
    found->leave_out(system);
  }
  return system;
}

}  // namespace partita::learn
