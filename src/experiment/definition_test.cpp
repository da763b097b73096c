#include "experiment/definition.h"

#include <gtest/gtest.h>

#include "experiment/test_support.h"

namespace partita::experiment {
namespace {

// Published values of the 64-bit FNV-1a hash.
TEST(Definition, FingerprintsAreFnv1a) {
  EXPECT_EQ(fingerprint(""), "cbf29ce484222325");
  EXPECT_EQ(fingerprint("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(fingerprint("foobar"), "85944171f73967e8");
}

TEST(Definition, StandsBesideTheResultFile) {
  EXPECT_EQ(definition_path("out/x.runs.jsonl"), "out/x.meta.json");
  EXPECT_EQ(definition_path("out/x"), "out/x.meta.json");
}

TEST(Definition, ComesBackAsItWas) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.runs.jsonl");
  EXPECT_FALSE(read_definition(path)->has_value());
  const std::string text = "gpus = 8\n# \"half\" the 1g.10gb → ½\n";
  ASSERT_TRUE(write_definition(path, text).ok());
  EXPECT_EQ(**read_definition(path), text);
}

TEST(Definition, AnythingElseInItsPlaceIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.runs.jsonl");
  for (const char* text : {"", "{", "[]", "{}", "{\"definition\":3}"}) {
    write_text(folder.file("x.meta.json"), text);
    EXPECT_FALSE(read_definition(path).ok()) << text;
  }
}

}  // namespace
}  // namespace partita::experiment
