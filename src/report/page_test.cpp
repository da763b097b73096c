#include "report/page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/page_template.h"

namespace partita::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPage = "<script type=\"application/json\">__PARTITA_DATA__</script>end";

// What the page reads out of its element.
std::string data_of(const std::string& page) {
  const std::size_t begin = page.find('>') + 1;
  return page.substr(begin, page.find("</script>") - begin);
}

TEST(Page, TheDataComesOutAsItWentIn) {
  const Json data{{"title", "a < b & c > d, \"quoted\", back\\slash, $& and $1, ü"},
                  {"numbers", {0.1, 1e-300, -7, 12345678901234567ULL}},
                  {"nothing", nullptr}};
  const std::string page = fill_page(kPage, data);
  EXPECT_EQ(Json::parse(data_of(page)), data);
  EXPECT_TRUE(page.ends_with("</script>end"));
}

TEST(Page, NothingInTheDataEndsItsElement) {
  const Json data{{"</script><script>alert(1)</script>", "<!--<script>"},
                  {"place", "__PARTITA_DATA__"}};
  const std::string page = fill_page(kPage, data);
  EXPECT_EQ(data_of(page).find('<'), std::string::npos);
  EXPECT_EQ(Json::parse(data_of(page)), data);
}

TEST(Page, BytesThatAreNoTextAreReplaced) {
  const std::string page = fill_page(kPage, Json{{"id",
                                                  "a\xff"
                                                  "b"}});
  EXPECT_EQ(Json::parse(data_of(page))["id"],
            "a\xEF\xBF\xBD"
            "b");
}

TEST(Page, ATemplateHasOnePlace) {
  EXPECT_TRUE(check_template(kPage).ok());
  EXPECT_FALSE(check_template("<html>").ok());
  EXPECT_FALSE(check_template("__PARTITA_DATA__ __PARTITA_DATA__").ok());
  const Status missing = check_template("");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("scripts/setup report"), std::string::npos);
}

TEST(Page, TheTemplateInTheProgramIsSound) {
  if (page_template().empty()) GTEST_SKIP() << "built without the report page";
  EXPECT_TRUE(check_template(page_template()).ok());
  EXPECT_TRUE(page_template().starts_with("<!doctype html>"));
}

}  // namespace
}  // namespace partita::report
