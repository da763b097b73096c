// Tables of named things: a row by its name, or the error that lists the names there are.
#pragma once

#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace partita {

// `name_of` gives the name of a row: a member, or a function of it. `what` is for the message. The
// row lives as long as the table does.
template <typename Table, typename Name>
auto find_named(std::string_view what, std::string_view name, const Table& table, Name name_of)
    -> Result<decltype(&*std::begin(table))> {
  for (const auto& row : table) {
    if (std::invoke(name_of, row) == name) return &row;
  }
  std::vector<std::string> known;
  for (const auto& row : table) known.emplace_back(std::invoke(name_of, row));
  return unknown_name(what, name, known);
}

}  // namespace partita
