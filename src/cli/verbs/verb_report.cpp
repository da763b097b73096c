#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/whole_file.h"
#include "cli/output/output_file.h"
#include "cli/output/report_page.h"
#include "cli/verbs/verbs.h"

namespace partita::cli {
namespace {

std::optional<std::string> text_if_given(const Values& values, std::string_view name) {
  const Value* value = values.given(name);
  if (value == nullptr) return {};
  return value->text;
}

nlohmann::ordered_json report_json(const ResultsPage& page, const std::string& out) {
  nlohmann::ordered_json json{{"report", out}, {"bytes", page.text.size()}, {"runs", page.runs}};
  json["title"] = page.data["title"];
  json["settings"] = nlohmann::ordered_json::array();
  for (const auto& setting : page.data["settings"]) {
    json["settings"].push_back({{"setting", setting["name"]},
                                {"reference", setting["reference"]},
                                {"policies", setting["policies"].size()}});
  }
  json["days_in_detail"] = page.data["day"].size();
  return json;
}

Result<ResultsPage> page_asked_for(const Values& values) {
  if (values.given("results") == nullptr) {
    const std::string path = values.text("training");
    const auto log = read_whole_file(path);
    if (!log) return log.error();
    auto page = page_of_training(*log, text_if_given(values, "title").value_or("Training"),
                                 command_text(Verb::kReport, values));
    if (!page) return Error{fmt::format("{}: {}", path, page.error().message)};
    return page;
  }
  return page_of_results({.results = values.text("results"),
                          .day = text_if_given(values, "day"),
                          .title = text_if_given(values, "title"),
                          .reference = text_if_given(values, "reference"),
                          .training = text_if_given(values, "training")});
}

}  // namespace

Outcome run_report(const Values& values, Console& console) {
  if (values.given("results") == nullptr && values.given("training") == nullptr) {
    return Error{
        "report needs --results, the NAME.runs.jsonl of `partita experiment`, or --training, the "
        "log of `partita train`"};
  }
  const std::string out = text_if_given(values, "out").value_or("report.html");
  const bool as_json = values.has_switch("json");
  if (out == "-" && as_json) return Error{"--json: the page takes standard output; give --out"};
  const auto page = page_asked_for(values);
  if (!page) return page.error();
  if (out == "-") {
    console.out.write(page->text);
    return 0;
  }
  auto file = OutputFile::open(out);
  if (!file) return file.error();
  (*file)->writer().write(page->text);
  if (const Status done = (*file)->commit(); !done) return done.error();
  if (as_json) {
    print_json(console, report_json(*page, out));
  } else {
    console.out.write(fmt::format("{}: {:.1f} MB, {} runs\n", out,
                                  static_cast<double>(page->text.size()) / 1e6, page->runs));
  }
  return 0;
}

}  // namespace partita::cli
