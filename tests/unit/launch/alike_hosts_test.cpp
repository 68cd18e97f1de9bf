// SPDX-License-Identifier: Apache-2.0

// Groups of hosts whose places may use the same cores, and the line that describes a group.

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alike_hosts.hpp"

namespace apgas::launch {
namespace {

using base::place_cores;
using testing::ElementsAre;
using hosts = std::vector<std::string>;

comm::cores_by_rank cores(const std::vector<place_cores>& places) {
  comm::cores_by_rank all;
  for (const place_cores& each : places) {
    all.push_back(std::make_shared<const place_cores>(each));
  }
  return all;
}

place_cores on(std::vector<int> mask, std::vector<base::cpu_limit> limits = {}) {
  return {.processors = std::move(mask),
          .limits = std::move(limits),
          .workers = 0,
          .binds = true,
          .hardware = 0};
}

TEST(AlikeHosts, TheSameMasksInTheSameOrder) {
  EXPECT_THAT(alike_hosts(cores({on({0}), on({1}), on({0}), on({1}), on({1}), on({0})}),
                          {"a", "a", "b", "b", "c", "c"}),
              ElementsAre(hosts{"a", "b"}, hosts{"c"}));
  EXPECT_THAT(alike_hosts(cores({on({0}), on({0}), on({1}), on({1})}), {"a", "b", "a", "b"}),
              ElementsAre(hosts{"a", "b"}));
}

TEST(AlikeHosts, MorePlacesAreAnotherDivision) {
  EXPECT_THAT(alike_hosts(cores({on({0}), on({0}), on({0})}), {"a", "a", "b"}),
              ElementsAre(hosts{"a"}, hosts{"b"}));
}

TEST(AlikeHosts, OtherWorkersOrHardwareOrLimitsAreNotAlike) {
  std::vector<place_cores> places(5, on({0}));
  places[1].workers = 1;
  places[2].hardware = 1;
  places[3].limits = {{7, 1500}};
  places[4].binds = false;
  EXPECT_EQ(alike_hosts(cores(places), {"a", "b", "c", "d", "e"}).size(), 5U);
}

TEST(AlikeHosts, CgroupsHaveOtherNumbersOnEachHost) {
  const auto limited = [](std::uint64_t cgroup) { return on({0, 1}, {{cgroup, 1500}}); };
  EXPECT_THAT(
      alike_hosts(cores({limited(5), limited(5), limited(9), limited(9)}), {"a", "a", "b", "b"}),
      ElementsAre(hosts{"a", "b"}));
  EXPECT_EQ(
      alike_hosts(cores({limited(5), limited(5), limited(8), limited(9)}), {"a", "a", "b", "b"})
          .size(),
      2U);
}

TEST(AlikeHosts, AreNamed) {
  EXPECT_EQ(others_alike({"a", "b"}), "the same on 1 more host: b");
  EXPECT_EQ(others_alike({"a", "b", "c", "d"}), "the same on 3 more hosts: b, c, d");
  EXPECT_EQ(others_alike({"a", "b", "c", "d", "e", "f"}),
            "the same on 5 more hosts: b, c, d and 2 more");
}

}  // namespace
}  // namespace apgas::launch
