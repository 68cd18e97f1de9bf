// SPDX-License-Identifier: Apache-2.0

// Through which interfaces Open MPI connects the places of a job.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "mpi_environment.hpp"

namespace {

using namespace apgas::comm;

const network_interface lo{.name = "lo", .loopback = true, .running = true};
const network_interface docker0{.name = "docker0", .transient = true};
const network_interface bridge{.name = "br-1", .running = true, .transient = true};
const network_interface unplugged{.name = "eth0"};
const network_interface eth1{.name = "eth1", .running = true};
const network_interface eth2{.name = "eth2", .running = true};

TEST(tcp_interfaces, places_of_one_host_use_one_that_remains) {
  const auto chosen = choose_tcp_interfaces({lo, docker0, bridge, unplugged, eth1, eth2}, true);
  EXPECT_EQ(chosen.use, "eth1");
  EXPECT_EQ(chosen.avoid, "");
}

TEST(tcp_interfaces, a_host_without_such_an_interface_avoids_what_is_down) {
  const auto chosen = choose_tcp_interfaces({lo, docker0, bridge, unplugged}, true);
  EXPECT_EQ(chosen.use, "");
  EXPECT_EQ(chosen.avoid, "127.0.0.1/8,docker0,eth0");
}

// Which ones lead to the other hosts is not known.
TEST(tcp_interfaces, places_of_several_hosts_avoid_what_is_down) {
  const auto chosen = choose_tcp_interfaces({lo, docker0, bridge, eth1, eth2}, false);
  EXPECT_EQ(chosen.use, "");
  EXPECT_EQ(chosen.avoid, "127.0.0.1/8,docker0");
}

TEST(tcp_interfaces, without_any_only_loopback_is_avoided) {
  EXPECT_EQ(choose_tcp_interfaces({}, true).avoid, "127.0.0.1/8");
}

}  // namespace
