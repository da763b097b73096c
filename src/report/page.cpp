#include "report/page.h"

#include <nlohmann/json.hpp>

#include "base/check.h"

namespace partita::report {
namespace {

constexpr std::string_view kPlace = "__PARTITA_DATA__";

}  // namespace

Status check_template(std::string_view page) {
  if (page.empty()) {
    return Error{
        "this partita was built without the report page; install npm (scripts/setup report), then "
        "build again (scripts/build)"};
  }
  const std::size_t place = page.find(kPlace);
  if (place == std::string_view::npos || page.find(kPlace, place + 1) != std::string_view::npos) {
    return Error{"the report page must have one place for its data, __PARTITA_DATA__"};
  }
  return {};
}

std::string fill_page(std::string_view page, const nlohmann::ordered_json& data) {
  CHECK(check_template(page).ok());
  const std::size_t place = page.find(kPlace);
  const std::string json =
      data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string text(page.substr(0, place));
  text.reserve(page.size() + json.size() + json.size() / 64);
  // In JSON "<" stands only inside strings, where its escape is the same character; so nothing in
  // the data can end the element it stands in.
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  text += page.substr(place + kPlace.size());
  return text;
}

}  // namespace partita::report
