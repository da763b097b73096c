#include "cli/text/man_page.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/flags/version.h"
#include "cli/text/help.h"

namespace partita::cli {
namespace {

// A line must not begin with a dot or an apostrophe, and these characters have a meaning.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string verb_section(const VerbRecord& record) {
  std::string text =
      fmt::format(".SS {}\n{}.\n", roff(usage_line(record.verb)), roff(sentence(record.summary)));
  if (!record.details.empty()) text += fmt::format("{}\n", roff(record.details));
  for (const FlagRecord* flag : flags_of(record.verb)) {
    text += fmt::format(".TP\n.B {}\n{}\n", roff(flag_usage(*flag)), roff(flag_details(*flag)));
  }
  return text;
}

std::string examples() {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const VerbRecord& record : verb_records()) {
    for (const std::string_view line : split(record.examples, '\n')) text += roff(line) + "\n";
  }
  return text + ".fi\n";
}

}  // namespace

std::string man_page() {
  std::string text = fmt::format(
      ".TH PARTITA 1 \"\" \"partita {}\" \"User Commands\"\n"
      ".SH NAME\npartita \\- what a policy for Multi\\-Instance GPUs costs in energy and lateness\n"
      ".SH SYNOPSIS\n.B partita\nVERB [flags]\n"
      ".SH DESCRIPTION\n"
      "Simulates jobs on GPUs that are cut into slices, exactly and repeatably.\n"
      "Data goes to standard output, warnings, progress and errors to standard error.\n"
      ".SH VERBS\n",
      kVersion);
  for (const VerbRecord& record : verb_records()) text += verb_section(record);
  text += examples();
  text +=
      ".SH EXIT STATUS\n.TP\n.B 0\nDone.\n"
      ".TP\n.B 1\nThe answer is no: the jobs cannot be run on these GPUs.\n"
      ".TP\n.B 2\nBad input; one sentence on standard error says which.\n"
      ".TP\n.B 3\nNo daemon answers (the verbs that ask one).\n"
      ".SH ENVIRONMENT\n.TP\n.B PARTITA_SOCKET\nThe socket of the daemon.\n.TP\n.B NO_COLOR\nWhen "
      "set, table heads are not bold.\n";
  return text;
}

}  // namespace partita::cli
