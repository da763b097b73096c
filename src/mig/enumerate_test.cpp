#include "mig/enumerate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "mig/test_support.h"

namespace partita::mig {
namespace {

using Texts = std::set<std::string>;

// A second opinion that shares no code with the module: walks the memory slices from left to right
// and writes layouts as text.
class BruteForce {
 public:
  BruteForce(const GpuModel& model, ProfileFamilies families) : model_(model) {
    for (const Profile& profile : model.profiles) {
      if ((!profile.media || families.media) &&
          (!profile.double_memory || families.double_memory)) {
        allowed_.push_back(&profile);
      }
    }
    walk(0, {}, {}, std::string(static_cast<std::size_t>(model.memory_slices), '.'), false);
  }

  Texts legal, maximal;
  std::set<std::vector<std::string>> legal_mixes, maximal_mixes;

 private:
  bool room_left(const std::string& slices, bool media) const {
    for (const Profile* profile : allowed_) {
      if (profile->media && media) continue;
      for (const std::size_t start : profile->starts) {
        const auto size = static_cast<std::size_t>(profile->memory_slices);
        if (slices.substr(start, size) == std::string(size, '.')) return true;
      }
    }
    return false;
  }

  void walk(int slice, std::string text, std::vector<std::string> mix, std::string slices,
            bool media) {
    if (slice == model_.memory_slices) {
      std::ranges::sort(mix);
      if (text.empty()) text = "empty";
      EXPECT_TRUE(legal.insert(text).second);
      legal_mixes.insert(mix);
      if (!room_left(slices, media)) {
        maximal.insert(text);
        maximal_mixes.insert(mix);
      }
      return;
    }
    walk(slice + 1, text, mix, slices, media);
    for (const Profile* profile : allowed_) {
      if (std::ranges::count(profile->starts, slice) == 0) continue;
      if (profile->media && media) continue;
      std::vector<std::string> more = mix;
      more.push_back(profile->name);
      std::string taken = slices;
      taken.replace(static_cast<std::size_t>(slice),
                    static_cast<std::size_t>(profile->memory_slices),
                    static_cast<std::size_t>(profile->memory_slices), '#');
      walk(slice + profile->memory_slices,
           text + (text.empty() ? "" : ",") + profile->name + ":" + std::to_string(slice), more,
           taken, media || profile->media);
    }
  }

  const GpuModel& model_;
  std::vector<const Profile*> allowed_;
};

Texts texts_of(const GpuModel& model, const std::vector<Layout>& layouts) {
  Texts texts;
  for (const Layout& layout : layouts) texts.insert(format_layout(model, layout));
  EXPECT_EQ(texts.size(), layouts.size());
  return texts;
}

struct Counts {
  std::size_t maximal, maximal_mixes, legal, legal_mixes;
  bool operator==(const Counts&) const = default;
};

void PrintTo(const Counts& counts, std::ostream* out) {
  *out << counts.maximal << "/" << counts.maximal_mixes << "/" << counts.legal << "/"
       << counts.legal_mixes;
}

Counts count(const GpuModel& model, ProfileFamilies families) {
  const std::vector<Layout> legal = legal_layouts(model, families);
  const std::vector<Layout> maximal = maximal_layouts(model, families);
  return {maximal.size(), distinct_mixes(model, maximal).size(), legal.size(),
          distinct_mixes(model, legal).size()};
}

constexpr ProfileFamilies kPlain{};
constexpr ProfileFamilies kMedia{.double_memory = false, .media = true};
constexpr ProfileFamilies kDouble{.double_memory = true, .media = false};
TEST(Enumerate, CountsOfTheSevenSliceGpusAreThePublishedOnes) {
  for (const char* key : {"a100-40gb", "a100-80gb", "h100", "h200", "b200"}) {
    EXPECT_EQ(count(gpu(key), kPlain), (Counts{19, 14, 298, 38})) << key;
    EXPECT_EQ(count(gpu(key), kMedia), (Counts{67, 24, 1089, 64})) << key;
    EXPECT_EQ(count(gpu(key), kDouble), (Counts{78, 38, 723, 78})) << key;
    EXPECT_EQ(count(gpu(key), kBothFamilies), (Counts{239, 64, 2319, 128})) << key;
  }
}

TEST(Enumerate, CountsOfTheA30AreThePublishedOnes) {
  EXPECT_EQ(count(gpu("a30"), kPlain), (Counts{5, 4, 26, 10}));
  EXPECT_EQ(count(gpu("a30"), kMedia), (Counts{17, 8, 76, 20}));
}

TEST(Enumerate, AgreesWithBruteForce) {
  for (const GpuModel* model : catalogue()) {
    for (const ProfileFamilies families : {kPlain, kMedia, kDouble, kBothFamilies}) {
      SCOPED_TRACE(model->key);
      const BruteForce brute(*model, families);
      const std::vector<Layout> legal = legal_layouts(*model, families);
      const std::vector<Layout> maximal = maximal_layouts(*model, families);
      EXPECT_EQ(texts_of(*model, legal), brute.legal);
      EXPECT_EQ(texts_of(*model, maximal), brute.maximal);
      EXPECT_EQ(distinct_mixes(*model, legal).size(), brute.legal_mixes.size());
      EXPECT_EQ(distinct_mixes(*model, maximal).size(), brute.maximal_mixes.size());
    }
  }
}

TEST(Enumerate, TheEmptyLayoutComesFirstAndTheOrderIsFixed) {
  const std::vector<Layout> layouts = legal_layouts(gpu("a100"), kBothFamilies);
  EXPECT_TRUE(layouts.front().empty());
  EXPECT_EQ(layouts, legal_layouts(gpu("a100"), kBothFamilies));
}

TEST(Enumerate, MaximalLayoutsAreInTheOrderOfTheVendorsDiagram) {
  std::vector<std::string> shapes;
  for (const Layout& layout : maximal_layouts(gpu("a100"), kPlain)) {
    std::string shape;
    for (const Placement placement : layout.instances()) {
      shape += std::to_string(gpu("a100").profiles[placement.profile].compute_slices);
    }
    shapes.push_back(shape);
  }
  EXPECT_EQ(shapes, (std::vector<std::string>{"7", "43", "421", "4111", "33", "321", "3111", "223",
                                              "2113", "1123", "11113", "2221", "22111", "21121",
                                              "11221", "211111", "112111", "111121", "1111111"}));
}

TEST(Enumerate, DistinctMixesKeepsTheFirstOfEach) {
  const GpuModel& a100 = gpu("a100");
  const std::vector<Layout> layouts = {*parse_layout(a100, "1g.5gb:0"),
                                       *parse_layout(a100, "1g.5gb:3"),
                                       *parse_layout(a100, "1g.5gb+me:3")};
  EXPECT_EQ(distinct_mixes(a100, layouts), (std::vector<Layout>{layouts[0], layouts[2]}));
}

}  // namespace
}  // namespace partita::mig
