#include "policies/layout_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/text.h"

namespace partita::policies {
namespace {

// "1,4g.20gb:0": meant as two layouts, but a comma joins the instances of one.
bool mixes_numbers_and_texts(std::string_view item) {
  const auto parts = split(item, ',');
  const auto written_out = [](std::string_view part) { return has_layout_text(part); };
  return parts.size() > 1 && !std::all_of(parts.begin(), parts.end(), written_out);
}

// What one item of a list says: a layout, and for how many GPUs where it has a count.
struct Item {
  std::string_view layout;
  std::optional<std::uint64_t> count;
};

Item item_of(std::string_view text) {
  const auto x = text.rfind('x');
  if (x == std::string_view::npos || x == 0) return {text, {}};
  const auto count = parse_int(text.substr(x + 1));
  if (!count || *count < 1) return {text, {}};
  return {trim(text.substr(0, x)), static_cast<std::uint64_t>(*count)};
}

// A number at the front of the text, as "12" or "t3"; empty when there is none.
std::string_view leading_number(std::string_view text) {
  std::size_t end = text.starts_with('t') ? 1 : 0;
  const std::size_t digits = end;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return end == digits ? std::string_view{} : text.substr(0, end);
}

constexpr std::string_view kEndsAnItem = ",/;";

// How many items in a row are `number`, with one separator between them, and where they end.
struct Run {
  std::size_t items = 0;
  std::size_t length = 0;
};

Run run_of(std::string_view text, std::string_view number) {
  Run run;
  char separator = '\0';
  for (std::size_t at = 0; text.substr(at).starts_with(number);) {
    const std::size_t end = at + number.size();
    const bool last = end == text.size();
    if (!last && kEndsAnItem.find(text[end]) == std::string_view::npos) break;
    run = {run.items + 1, end};
    if (last || (separator != '\0' && text[end] != separator)) break;
    separator = text[end];
    at = end + 1;
  }
  return run;
}

}  // namespace

std::string with_runs(std::string_view rule) {
  constexpr std::size_t kItemsShown = 8;
  std::string text;
  bool begins = true;  // of an item
  for (std::size_t at = 0; at < rule.size();) {
    const std::string_view rest = rule.substr(at);
    const std::string_view number = begins ? leading_number(rest) : std::string_view{};
    const Run run = number.empty() ? Run{} : run_of(rest, number);
    if (run.items > kItemsShown) {
      text += fmt::format("{}x{}", number, run.items);
      at += run.length;
      begins = false;
      continue;
    }
    begins = std::string_view(":=,/;").find(rule[at]) != std::string_view::npos;
    text += rule[at++];
  }
  return text;
}

bool has_layout_text(std::string_view text) {
  return text.find(':') != std::string_view::npos || text.find("g.") != std::string_view::npos;
}

Result<std::vector<mig::Layout>> parse_layout_list(const mig::GpuModel& model, std::uint32_t gpus,
                                                   std::string_view text) {
  const bool semicolons = has_layout_text(text) || text.find(';') != std::string_view::npos;
  std::vector<mig::Layout> layouts;
  std::uint64_t listed = 0;
  const std::vector<std::string_view> items = split(text, semicolons ? ';' : ',');
  for (const std::string_view word : items) {
    const Item item = item_of(trim(word));
    Result<mig::Layout> layout = mig::parse_layout_reference(model, item.layout);
    if (!layout && mixes_numbers_and_texts(word)) {
      return Error{layout.error().message + "; layouts are separated by semicolons"};
    }
    if (!layout) return layout.error();
    const std::uint64_t meant = items.size() == 1 ? gpus : 1;
    const std::uint64_t count = item.count.value_or(meant);
    // Saturates; and no more are kept than there are GPUs.
    listed += std::min(count, std::numeric_limits<std::uint64_t>::max() - listed);
    layouts.resize(std::min<std::uint64_t>(listed, gpus), *layout);
  }
  if (listed != gpus) {
    return Error{
        fmt::format("'{}' lists {} layouts for {} GPU{}; give one for each GPU, or one for all",
                    with_runs(text), listed, gpus, gpus == 1 ? "" : "s")};
  }
  return layouts;
}

Result<std::vector<mig::Layout>> parse_slashed_layouts(const mig::GpuModel& model,
                                                       std::uint32_t gpus, std::string_view text) {
  std::string list(text);
  std::replace(list.begin(), list.end(), '/', has_layout_text(text) ? ';' : ',');
  return parse_layout_list(model, gpus, list);
}

}  // namespace partita::policies
