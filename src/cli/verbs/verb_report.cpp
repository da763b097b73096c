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
  if (out == "-" && values.has_switch("json")) {
    return Error{"--json: the page takes standard output; give --out"};
  }
  const auto page = page_asked_for(values);
  if (!page) return page.error();
  if (out == "-") {
    console.out.write(page->text);
    return 0;
  }
  if (const Status done = write_output(out, page->text); !done) return done.error();
  return print_either(values, console, report_json(*page, out),
                      fmt::format("{}: {:.1f} MB, {} runs\n", out,
                                  static_cast<double>(page->text.size()) / 1e6, page->runs));
}

}  // namespace partita::cli
