// SPDX-License-Identifier: Apache-2.0
// When the calls of two members of a team count as the same, and how a call is printed.
#include <apgas/places/call_signature.hpp>

#include <cstddef>
#include <source_location>

#include <gtest/gtest.h>

namespace {

using apgas::remote::collective;
using apgas::remote::same_call;
using apgas::remote::signature_of;
using apgas::remote::team_call;
using apgas::remote::text_of;

constexpr std::size_t gib = std::size_t{1} << 30;

bool same(const team_call& a, const team_call& b) {
  return same_call(signature_of(a), signature_of(b));
}

TEST(call_signature, is_the_same_from_two_lines) {
  EXPECT_TRUE(same({collective::reduce, 3, 80, std::source_location::current()},
                   {collective::reduce, 3, 80, {}}));
}

TEST(call_signature, differs_by_collective_root_and_size) {
  const team_call call{collective::reduce, 3, 80, {}};
  EXPECT_FALSE(same(call, {collective::gather, 3, 80, {}}));
  EXPECT_FALSE(same(call, {collective::reduce, 4, 80, {}}));
  EXPECT_FALSE(same(call, {collective::reduce, 3, 88, {}}));
}

// Sizes that 32 bits would not distinguish.
TEST(call_signature, differs_when_sizes_differ_by_four_gib) {
  const team_call call{collective::allreduce, 0, 8, {}};
  EXPECT_FALSE(same(call, {collective::allreduce, 0, 4 * gib + 8, {}}));
  EXPECT_FALSE(same(call, {collective::allreduce, 0, 64 * gib + 8, {}}));
  EXPECT_TRUE(
      same({collective::allreduce, 0, 4 * gib, {}}, {collective::allreduce, 0, 4 * gib, {}}));
  EXPECT_FALSE(same({collective::allreduce, 0, 4 * gib, {}}, {collective::allreduce, 0, 0, {}}));
}

TEST(call_signature, differs_by_root_in_large_teams) {
  constexpr std::size_t many = std::size_t{1} << 24;
  EXPECT_FALSE(same({collective::reduce, 1, 8, {}}, {collective::reduce, many + 1, 8, {}}));
}

TEST(call_signature, is_printed_as_text) {
  EXPECT_EQ(text_of(signature_of({collective::barrier, 0, 0, {}})), "barrier");
  EXPECT_EQ(text_of(signature_of({collective::gather, 2, 8 * gib, {}})),
            "gather with member 2 as root of 8589934592 bytes");
  EXPECT_EQ(text_of({.what = 200}), "something unknown");
}

}  // namespace
