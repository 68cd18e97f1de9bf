// SPDX-License-Identifier: Apache-2.0

// All ranks choose the same transport from their settings and capabilities, or an error names the
// ranks that differ.

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/errors.hpp>

#include "transport_offer.hpp"

namespace {

using namespace apgas::comm;
using apgas::base::transport_choice;

// The offers of ranks on hosts h0, h1, ...
std::vector<transport_offer> offers(const std::vector<transport_choice>& wanted,
                                    const std::vector<std::string>& why_not = {}) {
  std::vector<transport_offer> all;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    all.push_back(make_transport_offer(wanted[i], i < why_not.size() ? why_not[i] : ""));
    std::memset(all[i].host, 0, sizeof all[i].host);
    all[i].host[0] = 'h';
    all[i].host[1] = static_cast<char>('0' + i);
  }
  return all;
}

std::string refusal(const std::vector<transport_offer>& all) {
  try {
    agree_on_transport(all);
  } catch (const apgas::launch_error& e) {
    return e.what();
  }
  return "";
}

constexpr auto any = transport_choice::automatic;
constexpr auto ucx = transport_choice::ucx;
constexpr auto mpi = transport_choice::mpi;

TEST(transport_offer, a_common_choice_is_used) {
  const auto by_default = agree_on_transport(offers({any, any}));
  EXPECT_TRUE(by_default.ucx);
  EXPECT_EQ(by_default.why, "default");
  const auto wanted = agree_on_transport(offers({ucx, ucx}));
  EXPECT_TRUE(wanted.ucx);
  EXPECT_EQ(wanted.why, "APGAS_TRANSPORT");
  const auto by_mpi = agree_on_transport(offers({mpi, mpi}));
  EXPECT_FALSE(by_mpi.ucx);
  EXPECT_EQ(by_mpi.why, "APGAS_TRANSPORT");
}

TEST(transport_offer, different_settings_are_refused) {
  const std::string what = refusal(offers({mpi, any, mpi, any, ucx}));
  EXPECT_EQ(what,
            "the places do not agree on APGAS_TRANSPORT: rank 0 (host h0) has `mpi', ranks 1, 3 "
            "(host h1) `auto'. Remedy: give all places the same environment (mpirun -x "
            "APGAS_TRANSPORT)");
  EXPECT_NE(refusal(offers({any, ucx})), "");
}

TEST(transport_offer, one_rank_without_ucx_is_named) {
  const auto agreed = agree_on_transport(offers({any, any, any, any}, {"", "", "none", "none"}));
  EXPECT_FALSE(agreed.ucx);
  EXPECT_EQ(agreed.why, "UCX cannot be used at ranks 2, 3 (host h2): none");
  EXPECT_EQ(refusal(offers({ucx, ucx}, {"", "no device"})),
            "APGAS_TRANSPORT=ucx: UCX cannot be used at rank 1 (host h1): no device. Remedy: leave "
            "it out, or set it to mpi");
}

TEST(transport_offer, a_long_reason_is_truncated) {
  const auto agreed = agree_on_transport(offers({any}, {std::string(1000, 'x')}));
  EXPECT_NE(agreed.why.find(std::string(239, 'x')), std::string::npos);
  EXPECT_EQ(agreed.why.find(std::string(240, 'x')), std::string::npos);
}

}  // namespace
