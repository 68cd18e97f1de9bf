// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host_list.hpp"

namespace apgas::launch {
namespace {

TEST(HostList, NamesThePlacesOfEachHost) {
  EXPECT_EQ(describe_hosts({"a"}), "on 1 host: 0 on a");
  EXPECT_EQ(describe_hosts({"a", "a", "a"}), "on 1 host: 0-2 on a");
  EXPECT_EQ(describe_hosts({"a", "a", "b", "b"}), "on 2 hosts: 0-1 on a, 2-3 on b");
  EXPECT_EQ(describe_hosts({"a", "b", "a", "a", "b"}), "on 2 hosts: 0,2-3 on a, 1,4 on b");
}

TEST(HostList, OfManyHostsTheFirstEight) {
  std::vector<std::string> hosts;
  for (int i = 0; i < 10; ++i) hosts.push_back(std::string("h").append(std::to_string(i)));
  EXPECT_EQ(describe_hosts(hosts),
            "on 10 hosts: 0 on h0, 1 on h1, 2 on h2, 3 on h3, 4 on h4, 5 on h5, 6 on h6, 7 on h7, "
            "2 more");
}

}  // namespace
}  // namespace apgas::launch
