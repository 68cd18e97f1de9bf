// SPDX-License-Identifier: Apache-2.0

// How much memory the programs over places need by their own account, which they compare with that
// of the host.

#include <gtest/gtest.h>

#include "arrays/run.hpp"
#include "cg/poisson.hpp"
#include "comd/run_slab.hpp"
#include "jacobi/wave.hpp"
#include "kmeans/lloyd.hpp"
#include "life/memory.hpp"
#include "sort/samples.hpp"

namespace {

constexpr arrays::copies of_places{.kept = 1, .while_sorting = 2};

TEST(ProgramMemory, AnArrayAndTheSumsOfAScan) {
  arrays::options o;
  o.in.size = 1000;
  o.operation = "reduce";
  EXPECT_EQ(o.bytes({1, 1}, of_places), 8000);
  EXPECT_EQ(o.bytes({4, 2}, of_places), 4000);  // two of the places are on another host
  o.operation = "scan";
  EXPECT_EQ(o.bytes({1, 1}, of_places), 16000);
}

TEST(ProgramMemory, AnArrayThatIsSortedNeedsABufferOrAllElementsForTheCheck) {
  arrays::options o;
  o.in.size = 1000;
  o.operation = "sort";
  EXPECT_EQ(o.bytes({1, 1}, of_places), 16000);
  EXPECT_EQ(o.bytes({4, 1}, of_places), 10000);  // all elements, and the portion of place 0
  EXPECT_EQ(o.bytes({4, 4}, {.kept = 2, .while_sorting = 5}), 40000);
}

TEST(ProgramMemory, KeysThatAreExchangedOrChecked) {
  const sorting::plan p{.keys = 1000, .distinct = 0, .seed = 1, .ascending = false};
  EXPECT_EQ(p.bytes({1, 1}, 1), 16000);
  EXPECT_EQ(p.bytes({2, 2}, 3), 32000);
  EXPECT_EQ(p.bytes({8, 1}, 3), 9000);  // the check
}

TEST(ProgramMemory, AMeshHasTwoCopies) {
  EXPECT_EQ(jacobi::bytes_of_mesh(1000, {1, 1}), 16e6);
  EXPECT_EQ(jacobi::bytes_of_mesh(1000, {4, 1}), 4e6);
  EXPECT_EQ(jacobi::bytes_of_mesh(1'000'000, {1, 1}), 16e12);
}

TEST(ProgramMemory, AtomsThatEachPlaceMakes) {
  const comd::problem p{.lattice = 10, .steps = 1, .seed = 1};
  constexpr double atoms = 4000 * sizeof(comd::atom);
  EXPECT_EQ(p.bytes({1, 1}), 3 * atoms);  // two copies at the end
  EXPECT_EQ(p.bytes({8, 4}), 6 * atoms);  // the others are on another host
}

TEST(ProgramMemory, PointsAndTheirClusters) {
  const kmeans::plan p{.points = 1000, .clusters = 2, .rounds = 1, .seed = 1};
  EXPECT_EQ(p.bytes({1, 1}), 32000);
  EXPECT_EQ(p.bytes({8, 1}), 32000);  // the check
}

TEST(ProgramMemory, VectorsOverThePoints) {
  EXPECT_EQ(cg::poisson(10, 1).bytes({1, 1}), 40000);
  EXPECT_EQ(cg::poisson(10, 1).bytes({4, 1}), 16000);
}

TEST(ProgramMemory, VisitsOfClients) {
  const life::plan alone{.size = 100, .generations = 10, .clients = 0};
  EXPECT_EQ(life::visits_of(alone).observations, 0);
  EXPECT_EQ(life::visits_of(alone).most_at_once, 0);
  const life::plan short_run{.size = 100, .generations = 1, .clients = 7};
  EXPECT_EQ(life::visits_of(short_run).observations, 7);
  EXPECT_EQ(life::visits_of(short_run).most_at_once, 7);
}

TEST(ProgramMemory, BoardsWindowsAndObservations) {
  const life::plan p{.size = 100, .generations = 1, .clients = 7};
  const life::visits none;
  EXPECT_EQ(life::bytes(p, none, 0, 1), 3e4);
  EXPECT_EQ(life::bytes(p, none, 50, 1), 2e4 + 50 * 16 * 100);
  const life::visits many{.observations = 1000, .most_at_once = 0};
  EXPECT_EQ(life::bytes(p, many, 0, 1), 3e4 + 2 * 1000 * sizeof(life::observation));
  EXPECT_EQ(life::bytes(p, many, 0, 4), 2e4 + 4 * 1000 * sizeof(life::observation));
}

}  // namespace
