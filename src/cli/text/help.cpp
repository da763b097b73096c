#include "cli/text/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/text.h"
#include "cli/text/table.h"

namespace partita::cli {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kFlagIndent = 6;

std::string indented_lines(std::string_view text, std::string_view indent) {
  std::string result;
  for (const std::string_view line : split(text, '\n')) {
    result += fmt::format("{}{}\n", indent, line);
  }
  return result;
}

// "" or "only for jobs of the kind papers or poisson".
std::string group_title(const FlagRecord& flag) {
  if (flag.only_for.empty()) return {};
  std::string kinds;
  const auto parts = split(flag.only_for, ' ');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) kinds += i + 1 < parts.size() ? ", " : " or ";
    kinds += parts[i] == "trace" ? "from a file" : std::string(parts[i]);
  }
  return fmt::format("only for jobs {}{}", parts.front() == "trace" ? "" : "of the kind ", kinds);
}

std::string flag_help(const FlagRecord& flag) {
  const std::string blanks(kFlagIndent, ' ');
  return fmt::format("  {}\n{}{}\n", flag_usage(flag), blanks,
                     wrapped(flag_details(flag), kColumns - kFlagIndent, kFlagIndent));
}

// Markdown gives some of these a meaning, and the texts have none of it.
std::string markdown_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '<') result += '\\';
    result += c;
  }
  return result;
}

std::string markdown_flag(const FlagRecord& flag) {
  const std::string range = flag.has_range() ? fmt::format("{} to {} {}", shown_number(flag.low),
                                                           shown_number(flag.high), flag.unit)
                                             : std::string(flag.unit);
  const std::string default_text =
      flag.default_text.empty() ? "" : fmt::format("`{}`", flag.default_text);
  const std::string key = flag.section.empty() ? "" : fmt::format("`{}`", scenario_key(flag));
  std::string usage = flag_usage(flag);
  for (std::size_t at = usage.find('|'); at != std::string::npos; at = usage.find('|', at + 2)) {
    usage.insert(at, "\\");
  }
  std::string meaning = markdown_text(flag.sentence);
  if (!flag.only_for.empty() && flag.only_for != "trace")
    meaning += fmt::format(" {}.", sentence(group_title(flag)));
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", usage, default_text, trim(range), key,
                     meaning);
}

constexpr std::string_view kFlagTable =
    "| flag | default | range and unit | scenario key | meaning |\n|---|---|---|---|---|\n";

// A flag that more verbs than this take is described once, under "Shared flags".
constexpr int kVerbsOfOwnFlags = 3;

bool shared(const FlagRecord& flag) {
  return !flag.positional() && std::popcount(flag.verbs) > kVerbsOfOwnFlags;
}

// The headings under which shared flags are described, in their order. None is the name of a verb:
// anchors must differ.
constexpr std::string_view kEveryVerb = "Flags of every verb";
constexpr std::array<std::string_view, 8> kSharedTitles = {
    kEveryVerb, "Files and threads", "Fleet",          "Policy and seed",
    "Score",    "Jobs from a file",  "Generated jobs", "Clients of the daemon"};

std::string_view shared_title(const FlagRecord& flag) {
  const auto takes_it = [&](const VerbRecord& record) { return flag.in(record.verb); };
  if (std::ranges::all_of(verb_records(), takes_it)) return kEveryVerb;
  if (flag.in(Verb::kSubmit)) return "Clients of the daemon";
  if (flag.section == "cluster") return "Fleet";
  if (flag.section == "policy") return "Policy and seed";
  if (flag.section == "score") return "Score";
  if (flag.section.empty()) return "Files and threads";
  return flag.only_for == "trace" || flag.name == "jobs" ? "Jobs from a file" : "Generated jobs";
}

std::vector<FlagGroup> shared_groups() {
  std::vector<FlagGroup> groups;
  for (const std::string_view title : kSharedTitles) groups.push_back({std::string(title), {}});
  for (const FlagRecord& flag : flag_records()) {
    if (!shared(flag)) continue;
    std::ranges::find(groups, shared_title(flag), &FlagGroup::title)->flags.push_back(&flag);
  }
  return groups;
}

// "#jobs-from-a-file": where a page puts the heading "Jobs from a file".
std::string anchor(std::string_view title) {
  std::string text = "#";
  for (const char c : title) {
    if (c == ' ') {
      text += '-';
    } else if (c != ',') {
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return text;
}

std::string markdown_link(std::string_view title) {
  return fmt::format("[{}]({})", title, anchor(title));
}

// "[Fleet](#fleet): `--gpu`" or "[Fleet](#fleet) but `--power`", whichever is shorter; no names
// where the verb takes them all, and empty where it takes none.
std::string shared_with(Verb verb, const FlagGroup& group) {
  std::vector<std::string> taken;
  std::vector<std::string> left_out;
  for (const FlagRecord* flag : group.flags) {
    (flag->in(verb) ? taken : left_out).push_back(fmt::format("`{}`", shown_name(*flag)));
  }
  const std::string link = markdown_link(group.title);
  if (taken.empty()) return {};
  if (left_out.empty()) return link;
  if (left_out.size() < taken.size()) {
    return fmt::format("{} but {}", link, fmt::join(left_out, ", "));
  }
  return fmt::format("{}: {}", link, fmt::join(taken, ", "));
}

std::string markdown_verb(const VerbRecord& record) {
  std::string text =
      fmt::format("\n## {}\n\n{}.\n", record.name, markdown_text(sentence(record.summary)));
  if (!record.details.empty()) text += fmt::format("\n{}\n", markdown_text(record.details));
  text += fmt::format("\n```\n{}\n```\n", record.examples);
  std::string own;
  for (const FlagRecord* flag : flags_of(record.verb)) {
    if (!shared(*flag)) own += markdown_flag(*flag);
  }
  if (!own.empty()) text += fmt::format("\n{}{}", kFlagTable, own);
  std::vector<std::string> also;
  for (const FlagGroup& group : shared_groups()) {
    std::string flags = shared_with(record.verb, group);
    if (!flags.empty() && group.title != kEveryVerb) also.push_back(std::move(flags));
  }
  if (also.empty()) return text;
  return text + fmt::format("\nShared flags: {}.\n", fmt::join(also, "; "));
}

std::string markdown_verbs() {
  std::string text = "\n| verb | what it does |\n|---|---|\n";
  for (const VerbRecord& record : verb_records()) {
    text += fmt::format("| {} | {} |\n", markdown_link(record.name), markdown_text(record.summary));
  }
  return text;
}

std::string markdown_shared() {
  std::string text =
      "\n## Shared flags\n\nFlags that more than three verbs take. Every verb takes those of the "
      "first table and\nsays which others it takes.\n";
  for (const FlagGroup& group : shared_groups()) {
    text += fmt::format("\n### {}\n\n{}", group.title, kFlagTable);
    for (const FlagRecord* flag : group.flags) text += markdown_flag(*flag);
  }
  return text;
}

constexpr std::string_view kStatusHelp =
    "Exit status: 0 done, 1 the answer is no (the jobs cannot be run), 2 bad input; of the "
    "daemon's clients also 3 no daemon, 4 not allowed, 5 too much for now. Data goes to stdout, "
    "everything else to stderr.";

constexpr std::string_view kMarkdownHead =
    "# The command line\n"
    "\n"
    "<!-- Made by `partita help --markdown` from the flag records in "
    "src/cli/flags/flag_table.cpp; a test\n"
    "     checks that it is up to date. -->\n"
    "\n"
    "`partita VERB [flags]`. Every verb takes `--json` and `--help`. Data goes to stdout, "
    "warnings,\n"
    "progress and errors to stderr; `NO_COLOR` is respected. Exit status: 0 done, 1 the answer is "
    "no\n"
    "(the jobs cannot be run on these GPUs), 2 bad input; of the daemon's clients also 3 no "
    "daemon,\n"
    "4 not allowed, 5 too many jobs or requests, or no space, for now. An output file is written "
    "under\n"
    "a temporary name and renamed when it is complete.\n"
    "\n"
    "The column \"scenario key\" is the name of a flag in a [scenario file](scenarios.md). Terms "
    "are in\n"
    "the [glossary](../glossary.md).\n";

constexpr std::string_view kMarkdownFiles =
    "\n## Files of `simulate`\n"
    "\n"
    "Times are seconds from the start of the run, exact to the microsecond. Jobs have the ids of "
    "the\n"
    "jobs file. GPUs are numbered from 0.\n"
    "\n"
    "* `--schedule`: `job,gpu,start_slot,profile,begin_s,end_s`, one row for each uninterrupted "
    "stay of\n"
    "  a job on a slice, in order of its end. `start_slot` is the first memory slice of the "
    "instance.\n"
    "  Where memory can grow there is a column `lost` more: 1 if the job began from nothing "
    "after it.\n"
    "* `--layouts`: `gpu,begin_s,end_s,layout`, what each GPU offered: the instances that existed "
    "and\n"
    "  were not being made or unmade. The last `end_s` of each GPU is the end of the energy "
    "count.\n"
    "* `--job-records`: `job,class,arrival_s,deadline_s,first_start_s,completion_s,tardiness_s,\n"
    "  preemptions`, in order of arrival. The deadline is the one that counted, after any penalty "
    "of\n"
    "  `--repartition-cost paper`.\n"
    "\n"
    "Energy follows from the first two: at each instant the power of a GPU is that of its curve at "
    "the\n"
    "compute slices of its busy instances, and every GPU is on from 0 to the end. Tardiness "
    "follows\n"
    "from the last `end_s` of each job and its deadline.\n";

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = 0;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t length = shown_width(word);
    if (column > 0 && column + 1 + length > width) {
      result += "\n" + std::string(indent, ' ');
      column = 0;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += length;
  }
  return result;
}

std::string sentence(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'a' && result[0] <= 'z') {
    result[0] = static_cast<char>(result[0] - 'a' + 'A');
  }
  return result;
}

std::string flag_usage(const FlagRecord& flag) {
  if (flag.positional() && flag.metavar == flag.name) return std::string(flag.name);
  if (flag.positional()) return fmt::format("{}: {}", flag.name, flag.metavar);
  const std::string name = flag.letter.empty()
                               ? shown_name(flag)
                               : fmt::format("-{}, {}", flag.letter, shown_name(flag));
  if (flag.is_switch()) return name;
  return fmt::format("{} {}", name, flag.metavar);
}

std::string flag_details(const FlagRecord& flag) {
  std::vector<std::string> facts;
  if (!flag.default_text.empty()) facts.push_back(fmt::format("default {}", flag.default_text));
  if (flag.has_range())
    facts.push_back(fmt::format("{} to {}", shown_number(flag.low), shown_number(flag.high)));
  if (!flag.unit.empty()) facts.push_back(fmt::format("in {}", flag.unit));
  if (facts.empty()) return std::string(flag.sentence);
  return fmt::format("{} ({})", flag.sentence, fmt::join(facts, "; "));
}

std::vector<const FlagRecord*> flags_of(Verb verb) {
  std::vector<const FlagRecord*> flags;
  for (const FlagRecord& flag : flag_records()) {
    if (flag.in(verb)) flags.push_back(&flag);
  }
  // Arguments first, then what always has a meaning, then what only some jobs have.
  std::stable_sort(flags.begin(), flags.end(), [](const FlagRecord* a, const FlagRecord* b) {
    return std::pair(!a->positional(), !a->only_for.empty()) <
           std::pair(!b->positional(), !b->only_for.empty());
  });
  return flags;
}

std::vector<FlagGroup> flag_groups(Verb verb) {
  std::vector<FlagGroup> groups;
  for (const FlagRecord* flag : flags_of(verb)) {
    const std::string title = group_title(*flag);
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const FlagGroup& each) { return each.title == title; });
    if (group != groups.end()) {
      group->flags.push_back(flag);
    } else {
      groups.push_back({title, {flag}});
    }
  }
  return groups;
}

std::string usage_line(Verb verb) {
  std::string line = fmt::format("partita {}", record_of(verb).name);
  for (const FlagRecord* flag : flags_of(verb)) {
    if (flag->positional()) line += fmt::format(" [{}]", flag->name);
  }
  return line + " [flags]";
}

std::string program_help() {
  std::string text =
      "partita: what a policy for Multi-Instance GPUs costs in energy and lateness\n\n"
      "usage: partita VERB [flags]\n\n";
  for (const VerbRecord& record : verb_records()) {
    text += fmt::format("  {:<12}{}\n", record.name, record.summary);
  }
  text += fmt::format("\n`partita VERB --help` lists the flags of a verb.\n{}\n",
                      wrapped(kStatusHelp, kColumns, 0));
  text += fmt::format(
      "\nexample:\n{}",
      indented_lines(record_of(Verb::kGenerate)
                         .examples.substr(0, record_of(Verb::kGenerate).examples.find('\n')),
                     "  "));
  return text +
         indented_lines(record_of(Verb::kCompare)
                            .examples.substr(0, record_of(Verb::kCompare).examples.find('\n')),
                        "  ");
}

std::string verb_help(Verb verb) {
  const VerbRecord& record = record_of(verb);
  std::string text = fmt::format("partita {}: {}\n", record.name, record.summary);
  if (!record.details.empty()) text += fmt::format("\n{}\n", wrapped(record.details, kColumns, 0));
  text += fmt::format("\nusage: {}\n\n", usage_line(verb));
  for (const FlagGroup& group : flag_groups(verb)) {
    if (!group.title.empty()) text += fmt::format("\n{}:\n\n", group.title);
    for (const FlagRecord* flag : group.flags) text += flag_help(*flag);
  }
  const bool several = record.examples.find('\n') != std::string_view::npos;
  return text + fmt::format("\n{}:\n{}", several ? "examples" : "example",
                            indented_lines(record.examples, "  "));
}

std::string markdown_help() {
  std::string text(kMarkdownHead);
  text += markdown_verbs() + markdown_shared();
  for (const VerbRecord& record : verb_records()) text += markdown_verb(record);
  return text + std::string(kMarkdownFiles);
}

}  // namespace partita::cli
