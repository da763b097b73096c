// Page: the report as one HTML file, made of the template and the data (docs/reference/report.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace partita::report {

// Fails when the template does not have the place for the data exactly once; of an empty template
// it says how to get one.
Status check_template(std::string_view page);

// The same data gives the same bytes. Text that is not UTF-8 gets replacement characters.
// REQUIRES: check_template(page).
std::string fill_page(std::string_view page, const nlohmann::ordered_json& data);

}  // namespace partita::report
