// SPDX-License-Identifier: Apache-2.0

// Places that do not agree do not start, and the error at every place names the ranks and the
// values that differ.

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/errors.hpp>

namespace {

using namespace apgas::comm;

struct no_frames final : frame_sink {
  void on_frame(const inbound_frame&) noexcept override { ADD_FAILURE(); }
};

// The errors of all places; empty for a place that started.
std::vector<std::string> start(const std::vector<endpoint_options>& options) {
  local_fabric fabric(static_cast<int>(options.size()));
  no_frames sink;
  std::vector<std::unique_ptr<endpoint>> all;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (i > 0) {
      EXPECT_FALSE(all[0]->ready());
      EXPECT_FALSE(all[0]->progress());
    }
    all.push_back(std::make_unique<endpoint>(fabric.at(static_cast<rank>(i)), sink, options[i]));
  }
  std::vector<std::string> messages;
  for (auto& each : all) {
    try {
      EXPECT_TRUE(each->ready());
      messages.emplace_back();
    } catch (const apgas::launch_error& e) {
      messages.emplace_back(e.what());
    }
  }
  return messages;
}

std::string this_host() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

void expect_all_contain(const std::vector<std::string>& messages,
                        const std::vector<std::string>& parts) {
  for (const std::string& message : messages) {
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' in: " << message;
    }
  }
}

TEST(start, places_that_agree_start) {
  endpoint_options options;
  options.settings = "batch 16K";
  for (const std::string& message : start({options, options, options})) EXPECT_EQ(message, "");
}

TEST(start, hosts_are_known) {
  local_fabric fabric(2);
  no_frames sink;
  endpoint a(fabric.at(0), sink);
  endpoint b(fabric.at(1), sink);
  EXPECT_TRUE(a.ready());
  EXPECT_EQ(a.host(1), this_host());
  EXPECT_TRUE(a.same_node(0, 1));
  EXPECT_TRUE(b.ready());
}

TEST(start, ranks_can_appear_to_be_on_several_hosts) {
  setenv("APGAS_TEST_HOSTS", "2", 1);
  local_fabric fabric(3);
  no_frames sink;
  endpoint a(fabric.at(0), sink);
  endpoint b(fabric.at(1), sink);
  endpoint c(fabric.at(2), sink);
  unsetenv("APGAS_TEST_HOSTS");
  EXPECT_TRUE(a.ready() && b.ready() && c.ready());
  EXPECT_EQ(a.host(1), this_host() + "-0");
  EXPECT_EQ(a.host(2), this_host() + "-1");
  EXPECT_TRUE(a.same_node(0, 1));
  EXPECT_FALSE(a.same_node(1, 2));
}

TEST(start, the_cores_of_each_rank_are_exchanged) {
  endpoint_options one;
  one.cores = {
      .processors = {0, 1}, .limits = {{7, 1500}}, .workers = 3, .binds = false, .hardware = 11};
  endpoint_options other;
  other.cores = {.processors = {2, 3}, .limits = {}, .workers = 0, .binds = true, .hardware = 11};
  local_fabric fabric(3);
  no_frames sink;
  endpoint a(fabric.at(0), sink, one);
  endpoint b(fabric.at(1), sink, other);
  endpoint c(fabric.at(2), sink, one);
  for (endpoint* each : {&a, &b, &c}) {
    ASSERT_TRUE(each->ready());
    const cores_by_rank cores = each->take_cores();
    ASSERT_EQ(cores.size(), 3U);
    EXPECT_EQ(*cores[0], one.cores);
    EXPECT_EQ(*cores[1], other.cores);
    EXPECT_EQ(cores[2], cores[0]);  // the same object
    EXPECT_TRUE(each->take_cores().empty());
  }
}

TEST(start, a_different_binary_is_refused) {
  endpoint_options one;
  endpoint_options other;
  one.fingerprint = 0x1111;
  other.fingerprint = 0x2222;
  expect_all_contain(start({one, one, other}),
                     {"rank 0 (host " + this_host() + ")", "rank 2 (host " + this_host() + ")",
                      "0000000000001111", "0000000000002222", "build-ids"});
}

TEST(start, a_different_version_is_refused) {
  endpoint_options other;
  other.version = 9'008'007;
  expect_all_contain(start({{}, other}), {"rank 1", "the version of apgas", "9.8.7"});
}

TEST(start, different_settings_are_refused) {
  endpoint_options one;
  endpoint_options other;
  one.settings = "batch 16K";
  other.settings = "batch 64K";
  expect_all_contain(start({other, one, one, one, one, one}),
                     {"batch 16K", "batch 64K", "ranks 1, 2, 3, 4 and 1 more"});
}

TEST(start, a_different_number_of_runs_is_refused) {
  local_fabric fabric(2);
  no_frames sink;
  fabric.at(1).attach();  // a run without rank 0
  fabric.at(1).detach();
  endpoint a(fabric.at(0), sink);
  endpoint b(fabric.at(1), sink);
  for (endpoint* each : {&a, &b}) {
    try {
      each->ready();
      FAIL();
    } catch (const apgas::launch_error& e) {
      EXPECT_NE(std::string(e.what()).find("number of the run"), std::string::npos) << e.what();
    }
  }
}

TEST(start, settings_that_are_too_long_are_refused) {
  local_fabric fabric(1);
  no_frames sink;
  endpoint_options options;
  options.settings = std::string(384, 's');
  EXPECT_THROW(endpoint(fabric.at(0), sink, options), std::invalid_argument);
  options.settings.pop_back();
  EXPECT_TRUE(endpoint(fabric.at(0), sink, options).ready());
}

TEST(start_death, one_endpoint_at_a_time) {
  local_fabric fabric(1);
  no_frames sink;
  const endpoint one(fabric.at(0), sink);
  EXPECT_DEATH(endpoint(fabric.at(0), sink), "one endpoint at a time");
}

}  // namespace
