// Source files as text: what a rule needs to look at C++ without parsing it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace partita::tidy {

inline constexpr std::size_t kNowhere = std::string_view::npos;

struct File {
  std::string path;  // from the root of the repository, with forward slashes
  std::string text;
};

// `text` with comments, the insides of string and character literals and, on request, preprocessor
// lines turned to spaces. Every line and column stays where it was.
enum class Directives { kKeep, kBlank };
std::string code_only(std::string_view text, Directives directives);

std::vector<std::string_view> lines_of(std::string_view text);

// 1 for the first line.
std::size_t line_at(std::string_view text, std::size_t offset);

bool is_word_char(char c);

// Where `word` stands in `text` from `from` on with no letter, digit or underscore at either end;
// npos when nowhere.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0);

// The quoted includes of a file, in order.
struct Include {
  std::string target;
  std::size_t line = 0;
};
std::vector<Include> quoted_includes(std::string_view text);

// A function body with its head, by line numbers.
struct FunctionSpan {
  std::string head;  // first line of its declaration, trimmed
  std::size_t first_line = 0;
  std::size_t last_line = 0;
};
// Finds functions by matching braces, which is right for code in the house format. A lambda belongs
// to the function around it; initialisers of tables are not functions.
std::vector<FunctionSpan> functions_of(std::string_view text);

}  // namespace partita::tidy
