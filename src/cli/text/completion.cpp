#include "cli/text/completion.h"

#include <fmt/format.h>

#include "base/check.h"
#include "cli/flags/name_lists.h"
#include "cli/text/help.h"

namespace partita::cli {
namespace {

bool takes_file(const FlagRecord& flag) {
  return flag.kind == ValueKind::kInput || flag.kind == ValueKind::kOutput;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// What may stand where a word begins: the flags of the verb and the names of its arguments.
std::string words_of(Verb verb) {
  std::vector<std::string> words;
  for (const FlagRecord* flag : flags_of(verb)) {
    if (!flag->positional()) {
      words.push_back(shown_name(*flag));
    } else if (flag->choices != nullptr) {
      for (const std::string& name : flag->choices()) words.push_back(name);
    }
  }
  return joined(words);
}

// ---- bash, which zsh can read too

std::string bash_values() {
  std::string cases;
  for (const FlagRecord& flag : flag_records()) {
    if (flag.positional() || flag.is_switch()) continue;
    std::string answer = "COMPREPLY=()";
    const std::string names = flag.choices == nullptr ? "" : joined(flag.choices());
    if (takes_file(flag)) {
      answer = fmt::format("COMPREPLY=($(compgen -f -W \"{}\" -- \"$word\"))", names);
    } else if (!names.empty()) {
      answer = fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))", names);
    }
    cases += fmt::format("    {}) {}; return ;;\n", shown_name(flag), answer);
  }
  return cases;
}

std::string bash_verbs() {
  std::string cases;
  for (const VerbRecord& record : verb_records()) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", record.name, words_of(record.verb));
  }
  return cases;
}

std::string bash_script() {
  return fmt::format(
      "# Completion of partita; made by `partita completion bash`.\n"
      "_partita() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" previous=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local words=\"{}\"\n"
      "  case \"$previous\" in\n{}"
      "  esac\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}"
      "  esac\n"
      "  [ \"$COMP_CWORD\" -eq 1 ] && words=\"{}\"\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}}\n"
      "complete -F _partita partita\n",
      joined(verb_names()), bash_values(), bash_verbs(), joined(verb_names()));
}

std::string zsh_script() {
  std::string script = bash_script();
  script.replace(script.find("completion bash"), 15, "completion zsh");
  return "#compdef partita\nautoload -U +X bashcompinit && bashcompinit\n" + script;
}

// ---- fish

std::string fish_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string fish_flag(const FlagRecord& flag) {
  std::vector<std::string> verbs;
  for (const VerbRecord& record : verb_records()) {
    if (flag.in(record.verb)) verbs.emplace_back(record.name);
  }
  const std::string condition = fmt::format("__fish_seen_subcommand_from {}", joined(verbs));
  const std::string names = flag.choices == nullptr ? "" : joined(flag.choices());
  const std::string choices = names.empty() ? "" : fmt::format(" -a '{}'", fish_text(names));
  if (flag.positional()) {
    return fmt::format("complete -c partita -f -n '{}'{} -d '{}'\n", condition, choices,
                       fish_text(flag.sentence));
  }
  const std::string_view value = flag.is_switch() ? "" : takes_file(flag) ? " -rF" : " -x";
  return fmt::format("complete -c partita -f -n '{}' -l {}{}{} -d '{}'\n", condition,
                     shown_name(flag).substr(2), value, choices, fish_text(flag.sentence));
}

std::string fish_script() {
  std::string script =
      "# Completion of partita; made by `partita completion fish`.\ncomplete -c partita -f\n";
  for (const VerbRecord& record : verb_records()) {
    script += fmt::format("complete -c partita -n __fish_use_subcommand -a {} -d '{}'\n",
                          record.name, fish_text(record.summary));
  }
  for (const FlagRecord& flag : flag_records()) script += fish_flag(flag);
  return script;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  CHECK(shell == "fish");
  return fish_script();
}

}  // namespace partita::cli
