// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/division.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

// Simulates an async_at to a group whose members are on these hosts, from its first member.
class spreading {
 public:
  explicit spreading(std::vector<int> hosts) : hosts_(std::move(hosts)), served_(hosts_.size()) {
    spread(0, 0, hosts_.size(), 0);
  }

  const std::vector<int>& served() const { return served_; }
  int between_hosts() const { return between_hosts_; }
  std::size_t depth() const { return depth_; }

 private:
  void spread(std::size_t from, std::size_t first, std::size_t last, std::size_t depth) {
    depth_ = std::max(depth_, depth);
    while (first != last) {
      const auto together = [&](std::size_t i, std::size_t j) {
        return hosts_[first + i] == hosts_[first + j];
      };
      const std::size_t to =
          first + apgas::remote::division(last - first, together, hosts_[first] == hosts_[from]);
      ++served_[to];
      between_hosts_ += static_cast<int>(hosts_[from] != hosts_[to]);
      spread(to, to + 1, last, depth + 1);
      last = to;
    }
  }

  std::vector<int> hosts_;
  std::vector<int> served_;
  int between_hosts_ = 0;
  std::size_t depth_ = 0;
};

std::vector<int> hosts_of_sizes(const std::vector<int>& sizes) {
  std::vector<int> hosts;
  for (std::size_t host = 0; host < sizes.size(); ++host) {
    hosts.insert(hosts.end(), static_cast<std::size_t>(sizes[host]), static_cast<int>(host));
  }
  return hosts;
}

TEST(Division, IsTheMiddleOfOneHost) {
  const auto all = [](std::size_t, std::size_t) { return true; };
  EXPECT_EQ(apgas::remote::division(1, all, true), 0U);
  EXPECT_EQ(apgas::remote::division(2, all, true), 1U);
  EXPECT_EQ(apgas::remote::division(9, all, true), 4U);
  EXPECT_EQ(apgas::remote::division(9, all, false), 0U)
      << "the group is on another host than the sender";
}

TEST(Division, IsWhereHostsChangeNextToTheMiddle) {
  const auto at = [](std::size_t boundary) {
    return [boundary](std::size_t, std::size_t j) { return j != boundary; };
  };
  for (std::size_t size = 2; size < 10; ++size) {
    for (std::size_t boundary = 1; boundary < size; ++boundary) {
      EXPECT_EQ(apgas::remote::division(size, at(boundary), true), boundary);
    }
  }
}

TEST(Division, EntersEachHostOnce) {
  std::mt19937 random(20);  // NOLINT: the same numbers each time
  for (int round = 0; round < 1000; ++round) {
    std::vector<int> sizes(1 + random() % 12);
    for (int& size : sizes) size = static_cast<int>(1 + random() % 20);
    const spreading made(hosts_of_sizes(sizes));
    for (const int times : made.served()) EXPECT_EQ(times, 1);
    EXPECT_EQ(made.between_hosts(), static_cast<int>(sizes.size()) - 1);
  }
}

TEST(Division, MakesShallowTrees) {
  EXPECT_EQ(spreading(hosts_of_sizes({1024})).depth(), 10U);
  EXPECT_LE(spreading(hosts_of_sizes(std::vector<int>(32, 32))).depth(), 12U);
  EXPECT_LE(spreading(hosts_of_sizes(std::vector<int>(1000, 1))).depth(), 11U);
  EXPECT_LE(spreading(hosts_of_sizes({1, 1000, 1, 1})).depth(), 13U);
}

TEST(Division, ServesPlacesThatAlternateBetweenHosts) {
  std::vector<int> hosts(100);
  for (std::size_t i = 0; i < hosts.size(); ++i) hosts[i] = static_cast<int>(i % 3);
  const spreading made(hosts);
  for (const int times : made.served()) EXPECT_EQ(times, 1);
}

}  // namespace
