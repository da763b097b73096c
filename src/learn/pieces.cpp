#include "learn/pieces.h"

#include <array>

#include "base/named.h"
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
    const auto piece = find_named("piece", trim(part), kPieces, &Piece::name);
    if (!piece) return piece.error();
    (*piece)->leave_out(system);
  }
  return system;
}

}  // namespace partita::learn
