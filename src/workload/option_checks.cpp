#include "workload/option_checks.h"

#include <fmt/format.h>

namespace partita::workload {

void OptionChecks::within(std::string_view what, double value, double low, double high) {
  if (value >= low && value <= high) return;  // false for NaN
  if (error_) return;
  error_ = Error{fmt::format("{}: found {}, wanted {} to {}", what, value, low, high)};
}

void OptionChecks::range(std::string_view what, double low, double high, double least,
                         double most) {
  within(what, low, least, most);
  within(what, high, least, most);
  if (error_ || low <= high) return;
  error_ = Error{
      fmt::format("{}: found {}:{}, wanted the smaller number before the larger", what, low, high)};
}

Status OptionChecks::status() const {
  return error_ ? Status(*error_) : Status();
}

}  // namespace partita::workload
