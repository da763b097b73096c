#include "bounds/slots/slot_tree.h"

#include <gtest/gtest.h>

#include <functional>

#include "bounds/certificate.h"
#include "bounds/exact/tardiness_mip.h"
#include "bounds/report.h"
#include "bounds/slots/slot_search.h"
#include "bounds/test_support.h"

namespace partita::bounds {
namespace {

// Jobs of a minute or so that crowd on one GPU, in slots as coarse as they are few.
Problem crowd(std::uint64_t seed, int jobs) {
  workload::Trace trace = random_trace(seed, jobs);
  for (workload::Job& job : trace.jobs) {
    job.arrival = Micros{job.arrival.count / 4};
    job.deadline = job.arrival + Micros{(job.deadline - job.arrival).count / 2};
  }
  workload::sort_by_arrival(trace);
  return *make_problem(trace, a100_fleet(1));
}

SlotProgram few_slots(const Problem& problem, std::size_t slots) {
  const double slot = slots_end(problem) * (1 + 1e-6) / static_cast<double>(slots);
  return slot_program(problem, static_cast<std::int64_t>(slot) + 1, slots);
}

// Every way to finish, by flow: work of each job up to each slot, slot by slot. The oracle of a
// program with few jobs: all assignments of finishing slots are tried, each by a linear program.
double least_by_trying_all(const SlotProgram& program) {
  const std::size_t jobs = program.tasks.size();
  std::vector<std::size_t> finish(jobs);
  double least = std::numeric_limits<double>::infinity();
  const auto possible = [&] {
    LinearModel model;
    std::vector<std::size_t> capacity;
    for (std::size_t s = 0; s < program.slots; ++s) {
      capacity.push_back(model.add_row(-kNoLimit, program.gpus));
    }
    for (std::size_t job = 0; job < jobs; ++job) {
      if (finish[job] == program.slots) continue;
      const double length = program.tasks[job].length / program.slot;
      const std::size_t whole = model.add_row(length, length);
      for (std::size_t s = program.tasks[job].first; s <= finish[job]; ++s) {
        const std::size_t column = model.add_column(0, 0, 1);
        model.set(whole, column, 1);
        model.set(capacity[s], column, 1);
      }
    }
    return solve_linear(model).optimal;
  };
  const std::function<void(std::size_t, double)> choose = [&](std::size_t job, double late) {
    if (late >= least) return;
    if (job == jobs) {
      if (possible()) least = late;
      return;
    }
    const SlotTask& task = program.tasks[job];
    for (std::size_t s = task.first; s <= program.slots; ++s) {
      finish[job] = s;
      choose(job + 1, late + program.late_s(task, s));
    }
  };
  choose(0, 0);
  return least;
}

TEST(SlotTree, ProvesTheOptimumOfSmallPrograms) {
  int divided = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Problem problem = crowd(seed, 4);
    const SlotProgram program = few_slots(problem, 8);
    const TreeFound found = search_tree(program, {});
    const double optimum = least_by_trying_all(program);
    EXPECT_EQ(found.end, TreeEnd::kOptimal) << seed;
    const Result<double> proven = proven_tardiness_s(problem, found.tree);
    ASSERT_TRUE(proven.ok()) << seed << ": " << proven.error().message;
    EXPECT_LE(*proven, optimum * (1 + 1e-9)) << seed;
    EXPECT_GE(*proven, optimum - 1e-4 * (1 + optimum)) << seed;
    EXPECT_NEAR(found.incumbent_s, optimum, 1e-4 * (1 + optimum)) << seed;
    divided += found.tree.leaves() > 1 ? 1 : 0;
  }
  EXPECT_GE(divided, 5);
}

TEST(SlotTree, AgreesWithCbc) {
  int solved = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Problem problem = crowd(seed, 5);
    const SlotProgram program = few_slots(problem, 12);
    const MipBound cbc = cbc_tardiness(program, 20);
    if (cbc.status != MipStatus::kOptimal) continue;
    ++solved;
    const TreeFound found = search_tree(program, {});
    const Result<double> proven = proven_tardiness_s(problem, found.tree);
    ASSERT_TRUE(proven.ok());
    EXPECT_LE(*proven, cbc.total_s + 1e-4 * (1 + cbc.total_s)) << seed;
    EXPECT_GE(*proven, cbc.total_s - 1e-4 * (1 + cbc.total_s)) << seed;
  }
  EXPECT_GE(solved, 5);
}

// Whatever the cases and the prices are.
TEST(SlotTree, ProvesNoMoreThanTheOptimumWithAnyTreeAndPrices) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Problem problem = crowd(seed, 3);
    const SlotProgram program = few_slots(problem, 7);
    const double optimum = least_by_trying_all(program);
    Rng rng(seed, 21);
    for (int round = 0; round < 200; ++round) {
      SlotTree tree{static_cast<std::int64_t>(program.slot), program.slots, {}};
      std::size_t open = 1;
      while (open > 0) {
        SlotTreeNode node;
        node.leaf = tree.nodes.size() > 20 || rng.below(2) == 0;
        node.job = rng.below(3);
        node.slot = rng.below(program.slots);
        for (std::size_t s = 0; node.leaf && s < program.slots; ++s) {
          node.prices.push_back(rng.below(3) == 0 ? 0 : rng.uniform(0, 3));
        }
        node.leaf ? --open : ++open;
        tree.nodes.push_back(std::move(node));
      }
      const Result<double> proven = proven_tardiness_s(problem, tree);
      ASSERT_TRUE(proven.ok()) << proven.error().message;
      ASSERT_LE(*proven, optimum * (1 + 1e-12)) << seed;
    }
  }
}

struct Forged {
  Problem problem;
  Certificate certificate;
};

// A certificate that holds, whose tree has several cases.
Forged honest() {
  for (std::uint64_t seed = 1;; ++seed) {
    Forged made{crowd(seed, 4), {}};
    TreeFound found = search_tree(few_slots(made.problem, 8), {});
    const Result<double> proven = proven_tardiness_s(made.problem, found.tree);
    if (found.tree.leaves() < 3 || !proven || *proven < 1) continue;
    made.certificate.subject = {"a100-40gb", "smart-mig", 1, 4, Micros{}, 2e-7};
    Bound bound{.kind = Kind::kTardiness, .name = "mip", .prices = {}, .tree = {}, .word = {}};
    bound.tree = std::move(found.tree);
    bound.value = *check_bound(made.problem, 2e-7, bound);
    made.certificate.bounds.push_back(std::move(bound));
    return made;
  }
}

// Of the certificate as a file has it.
Verdict verdict_of(const Forged& forged) {
  const std::string text = to_text(forged.certificate, forged.problem);
  const Result<Certificate> read = parse_certificate(text);
  EXPECT_TRUE(read.ok() && to_text(*read, forged.problem) == text);
  return verify(*read, forged.problem).front();
}

TEST(SlotTree, HoldsAsACertificate) {
  const Verdict verdict = verdict_of(honest());
  EXPECT_TRUE(verdict.holds) << verdict.why;
  EXPECT_EQ(verdict.proven, verdict.claimed);
}

TEST(SlotTree, IsRefusedWithACaseMissingOrTooMany) {
  const Forged made = honest();
  for (std::size_t i = 0; i < made.certificate.bounds[0].tree->nodes.size(); ++i) {
    Forged forged = made;
    auto& nodes = forged.certificate.bounds[0].tree->nodes;
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(verdict_of(forged).holds) << i;
    forged = made;
    auto& more = forged.certificate.bounds[0].tree->nodes;
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(i), SlotTreeNode{});
    EXPECT_FALSE(verdict_of(forged).holds) << i;
  }
  Forged empty = made;
  empty.certificate.bounds[0].tree->nodes.clear();
  EXPECT_EQ(verdict_of(empty).why, "cases without a proof: 1");
}

TEST(SlotTree, IsRefusedWithAValueRaised) {
  Forged forged = honest();
  forged.certificate.bounds[0].value *= 1 + 1e-12;
  EXPECT_EQ(verdict_of(forged).why, "what is proven is less");
}

TEST(SlotTree, IsRefusedWithoutATree) {
  Forged forged = honest();
  forged.certificate.bounds[0].tree.reset();
  EXPECT_EQ(verdict_of(forged).why, "tardiness mip has no certificate");
}

// A leaf's prices are the best there are, or another leaf is the least: others prove no more.
TEST(SlotTree, ProvesNoMoreWithOtherPrices) {
  const Forged made = honest();
  int refused = 0;
  Rng rng(1, 22);
  const std::size_t nodes = made.certificate.bounds[0].tree->nodes.size();
  for (std::size_t i = 0; i < nodes; ++i) {
    Forged forged = made;
    SlotTreeNode& node = forged.certificate.bounds[0].tree->nodes[i];
    for (double& price : node.prices) price = price * rng.uniform(0, 3) + rng.uniform(0, 1);
    const Verdict verdict = verdict_of(forged);
    EXPECT_LE(verdict.proven, verdict.claimed * (1 + 1e-3));
    refused += verdict.holds ? 0 : 1;
    if (node.prices.empty()) continue;
    node.prices.front() = -1;
    EXPECT_EQ(verdict_of(forged).why, "a price is negative or no number");
  }
  EXPECT_GT(refused, 0);
}

TEST(SlotTree, IsRefusedWithJobsOrSlotsThatDoNotExist) {
  Forged forged = honest();
  SlotTree& tree = *forged.certificate.bounds[0].tree;
  ASSERT_FALSE(tree.nodes[0].leaf);
  tree.nodes[0].job = 4;
  EXPECT_FALSE(verdict_of(forged).holds);
  forged = honest();
  forged.certificate.bounds[0].tree->nodes[0].slot = 8;
  EXPECT_FALSE(verdict_of(forged).holds);
  forged = honest();
  forged.certificate.bounds[0].tree->nodes.back().prices.resize(9);
  EXPECT_EQ(verdict_of(forged).why, "there are more prices than slots");
  forged = honest();
  forged.certificate.bounds[0].tree->slot_us = 0;
  EXPECT_EQ(verdict_of(forged).why, "it has 8 slots of 0 us");
}

}  // namespace
}  // namespace partita::bounds
