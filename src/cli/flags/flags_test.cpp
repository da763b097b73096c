#include "cli/flags/flags.h"

#include <gtest/gtest.h>

#include <set>

#include "cli/flags/name_lists.h"
#include "cli/text/completion.h"
#include "cli/text/help.h"
#include "cli/text/man_page.h"

namespace partita::cli {
namespace {

TEST(FlagRecords, NamesAndScenarioKeysAreUnique) {
  std::set<std::string> names;
  std::set<std::string> keys;
  for (const FlagRecord& flag : flag_records()) {
    EXPECT_TRUE(names.insert(std::string(flag.name)).second) << flag.name;
    if (flag.section.empty()) continue;
    EXPECT_TRUE(keys.insert(scenario_key(flag)).second) << flag.name;
  }
}

TEST(FlagRecords, EveryRecordIsWhole) {
  for (const FlagRecord& flag : flag_records()) {
    EXPECT_NE(flag.verbs, 0U) << flag.name;
    EXPECT_TRUE(flag.sentence.ends_with('.')) << flag.name;
    EXPECT_EQ(flag.metavar.empty(), flag.is_switch()) << flag.name;
    EXPECT_TRUE(flag.kind != ValueKind::kName || flag.choices != nullptr) << flag.name;
    const bool number = flag.kind == ValueKind::kNumber || flag.kind == ValueKind::kCount ||
                        flag.kind == ValueKind::kSeconds;
    EXPECT_EQ(number, flag.has_range()) << flag.name;
  }
}

TEST(FlagRecords, EveryDefaultPassesItsOwnCheck) {
  for (const FlagRecord& flag : flag_records()) {
    if (flag.default_text.empty()) continue;
    const auto good = parse_value(flag, flag.default_text);
    EXPECT_TRUE(good.ok()) << flag.name << ": " << good.error().message;
  }
}

TEST(FlagRecords, EveryVerbHasHelpAndJson) {
  for (const VerbRecord& verb : verb_records()) {
    EXPECT_EQ(&record_of(verb.verb), &verb);
    EXPECT_TRUE(find_flag("help")->in(verb.verb));
    EXPECT_TRUE(find_flag("json")->in(verb.verb));
  }
}

TEST(FlagRecords, AValueOutOfRangeIsAnsweredWithTheRange) {
  const FlagRecord& gpus = *find_flag("gpus");
  EXPECT_TRUE(parse_value(gpus, "1000000").ok());
  for (const char* bad : {"0", "-1", "1000001", "1.5", "nan", "8x", "", "1e3"}) {
    const auto checked = parse_value(gpus, bad);
    ASSERT_FALSE(checked.ok()) << bad;
    EXPECT_NE(checked.error().message.find("a whole number from 1 to 1,000,000"),
              std::string::npos);
  }
}

TEST(FlagRecords, NumbersMustBeFinite) {
  for (const FlagRecord& flag : flag_records()) {
    if (!flag.has_range()) continue;
    for (const char* bad : {"nan", "inf", "-inf", "1e999", "0x10", " ", "1 2"}) {
      EXPECT_FALSE(parse_value(flag, bad).ok()) << flag.name << " " << bad;
    }
  }
}

TEST(NearestName, FindsASlipAndNothingForNonsense) {
  const std::vector<std::string> names{"--gpu", "--gpus", "--jobs"};
  EXPECT_EQ(nearest_name("--gpuss", names), "--gpus");
  EXPECT_EQ(nearest_name("--jbos", names), "--jobs");
  EXPECT_EQ(nearest_name("--something-else", names), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'x'), names), "");
}

TEST(Help, EveryVerbsHelpEndsWithItsExamples) {
  for (const VerbRecord& verb : verb_records()) {
    const std::string help = verb_help(verb.verb);
    const std::string last(verb.examples.substr(verb.examples.rfind('\n') + 1));
    EXPECT_TRUE(help.ends_with("  " + last + "\n")) << verb.name;
    EXPECT_TRUE(last.starts_with(std::string("partita ") + std::string(verb.name)));
    for (const FlagRecord* flag : flags_of(verb.verb)) {
      EXPECT_NE(help.find(flag_usage(*flag)), std::string::npos) << verb.name << flag->name;
    }
  }
}

TEST(Help, LinesAreWrappedAtWords) {
  EXPECT_EQ(wrapped("aa bb cc", 5, 2), "aa bb\n  cc");
  EXPECT_EQ(wrapped("aaaaaaaa b", 3, 0), "aaaaaaaa\nb");
  EXPECT_EQ(wrapped("", 3, 0), "");
}

TEST(Completion, EveryShellKnowsEveryFlag) {
  for (const std::string& shell : shell_names()) {
    const std::string script = completion_script(shell);
    for (const FlagRecord& flag : flag_records()) {
      if (flag.positional()) continue;
      const std::string shown = shown_name(flag);
      const std::string name = shell == "fish" ? "-l " + shown.substr(2) : shown;
      EXPECT_NE(script.find(name), std::string::npos) << shell << " " << flag.name;
    }
    EXPECT_NE(script.find("a100-40gb"), std::string::npos);
    EXPECT_NE(script.find("smart-mig"), std::string::npos);
  }
}

TEST(ManPage, HasEverySectionAndNoLineThatRoffWouldMisread) {
  const std::string page = man_page();
  EXPECT_TRUE(page.starts_with(".TH PARTITA 1"));
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS"}) {
    EXPECT_NE(page.find(std::string(".SH ") + section), std::string::npos);
  }
  for (const FlagRecord& flag : flag_records()) {
    const std::string_view typed = flag.typed.empty() ? flag.name : flag.typed;
    EXPECT_NE(page.find(typed.substr(0, typed.find('-'))), std::string::npos) << typed;
  }
  EXPECT_EQ(page.find("\n'"), std::string::npos);
}

}  // namespace
}  // namespace partita::cli
