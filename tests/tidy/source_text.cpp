#include "source_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace partita::tidy {
namespace {

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, text.size()); ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

// First offset behind the literal or comment that begins at `i`.
std::size_t end_of_line_comment(std::string_view text, std::size_t i) {
  return std::min(text.find('\n', i), text.size());
}

std::size_t end_of_block_comment(std::string_view text, std::size_t i) {
  const std::size_t end = text.find("*/", i + 2);
  return end == kNowhere ? text.size() : end + 2;
}

std::size_t end_of_raw_string(std::string_view text, std::size_t quote) {
  const std::size_t open = text.find('(', quote);
  if (open == kNowhere) return text.size();
  const std::string close = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == kNowhere ? text.size() : end + close.size();
}

std::size_t end_of_quoted(std::string_view text, std::size_t quote) {
  for (std::size_t i = quote + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[quote]) {
      return i + 1;
    }
  }
  return std::min(quote + 1, text.size());
}

// 1'000'000 has no character literals.
bool is_digit_separator(std::string_view text, std::size_t i) {
  return text[i] == '\'' && i > 0 && i + 1 < text.size() &&
         std::isxdigit(static_cast<unsigned char>(text[i - 1])) != 0 &&
         std::isxdigit(static_cast<unsigned char>(text[i + 1])) != 0;
}

bool line_is_directive(std::string_view text, std::size_t i) {
  const std::size_t before = text.substr(0, i).find_last_not_of(" \t");
  return before == kNowhere || text[before] == '\n';
}

// Behind the directive at `i`, with the lines it continues on.
std::size_t end_of_directive(std::string_view text, std::size_t i) {
  std::size_t end = text.find('\n', i);
  while (end != kNowhere && end > 0 && text[end - 1] == '\\') end = text.find('\n', end + 1);
  return std::min(end, text.size());
}

// An include names its header between quotes, and that is no literal.
std::size_t end_of_include(std::string_view text, std::size_t i) {
  const std::size_t end = end_of_directive(text, i);
  const std::string_view line = text.substr(i, end - i);
  return trim(line.substr(1)).starts_with("include") ? end : i + 1;
}

// What stands between the last ; { or } and the brace of a function: its declaration.
struct Head {
  std::size_t begin = 0;
  std::string_view text;
};

Head head_before(std::string_view code, std::size_t begin, std::size_t brace) {
  static constexpr std::array<std::string_view, 3> kLabels{"public:", "private:", "protected:"};
  while (true) {
    begin = std::min(code.find_first_not_of(" \t\n", begin), brace);
    const auto label = std::ranges::find_if(kLabels, [&](std::string_view name) {
      return code.substr(begin, brace - begin).starts_with(name);
    });
    if (label == kLabels.end()) return {begin, code.substr(begin, brace - begin)};
    begin += label->size();
  }
}

std::string without_parentheses(std::string_view text) {
  std::string outside;
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (depth == 0) outside += c;
    if (c == ')' && depth > 0) --depth;
  }
  return outside;
}

bool opens_scope(std::string_view head) {
  static constexpr std::array<std::string_view, 6> kScopes{"namespace", "class", "struct",
                                                           "union",     "enum",  "extern"};
  const std::string outside = without_parentheses(head);
  // With parentheses it is a function that names a type or a linkage, except for alignas.
  if (outside.size() != head.size() && head.find("alignas") == kNowhere) return false;
  return std::ranges::any_of(
      kScopes, [&](std::string_view word) { return find_word(outside, word) != kNowhere; });
}

bool opens_function(std::string_view head) {
  if (head.find('(') == kNowhere) return false;
  if (head.find("operator") != kNowhere) return true;
  const std::string outside = without_parentheses(head);
  const std::size_t assignment = outside.find('=');
  if (assignment == kNowhere) return true;
  return trim(std::string_view(outside).substr(assignment + 1)).starts_with("[");
}

}  // namespace

std::string code_only(std::string_view text, Directives directives) {
  std::string code(text);
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t end = i + 1;
    bool hide = true;
    if (text.substr(i, 2) == "//") {
      end = end_of_line_comment(text, i);
    } else if (text.substr(i, 2) == "/*") {
      end = end_of_block_comment(text, i);
    } else if (text[i] == '"' && i > 0 && text[i - 1] == 'R') {
      end = end_of_raw_string(text, i);
    } else if (text[i] == '"' || (text[i] == '\'' && !is_digit_separator(text, i))) {
      end = end_of_quoted(text, i);
    } else if (text[i] == '#' && line_is_directive(text, i)) {
      end = directives == Directives::kBlank ? end_of_directive(text, i) : end_of_include(text, i);
      hide = directives == Directives::kBlank;
    } else {
      hide = false;
    }
    const bool literal = text[i] == '"' || text[i] == '\'';
    if (hide) blank(code, literal ? i + 1 : i, literal ? end - 1 : end);
    i = end;
  }
  return code;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
}

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != kNowhere; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word_char(text[at - 1]);
    const bool ends = end >= text.size() || !is_word_char(text[end]);
    if (begins && ends) return at;
  }
  return kNowhere;
}

std::vector<Include> quoted_includes(std::string_view text) {
  const std::string code = code_only(text, Directives::kKeep);
  std::vector<Include> found;
  const std::vector<std::string_view> lines = lines_of(code);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view rest = trim(lines[i]);
    if (!rest.starts_with('#')) continue;
    rest = trim(rest.substr(1));
    if (!rest.starts_with("include")) continue;
    rest = trim(rest.substr(7));
    const std::size_t close = rest.find('"', 1);
    if (!rest.starts_with('"') || close == kNowhere) continue;
    found.push_back({std::string(rest.substr(1, close - 1)), i + 1});
  }
  return found;
}

std::vector<FunctionSpan> functions_of(std::string_view text) {
  const std::string code = code_only(text, Directives::kBlank);
  std::vector<FunctionSpan> functions;
  std::size_t head_begin = 0;
  std::size_t inner = 0;  // open braces of the body or initialiser we are in
  int parentheses = 0;    // a brace or semicolon inside them belongs to the head
  FunctionSpan current;
  bool in_function = false;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (inner == 0 && (c == '(' || c == ')')) parentheses += c == '(' ? 1 : -1;
    if (parentheses > 0) continue;
    if (c == '{' && inner > 0) {
      ++inner;
    } else if (c == '{') {
      const Head head = head_before(code, head_begin, i);
      if (!opens_scope(head.text)) {
        inner = 1;
        in_function = opens_function(head.text);
        current = {std::string(trim(head.text.substr(0, head.text.find('\n')))),
                   line_at(code, head.begin), 0};
      }
      head_begin = i + 1;
    } else if (c == '}' && inner > 0) {
      if (--inner == 0 && in_function) {
        current.last_line = line_at(code, i);
        functions.push_back(current);
      }
      if (inner == 0) head_begin = i + 1;
    } else if (c == '}' || (c == ';' && inner == 0)) {
      head_begin = i + 1;
    }
  }
  return functions;
}

}  // namespace partita::tidy
