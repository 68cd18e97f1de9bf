// SPDX-License-Identifier: Apache-2.0

// Handler ids: they are stable and distinct, they find their thunk, and other numbers find nothing.

#include <apgas/comm/handler.hpp>

#include <set>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>

namespace {

using namespace apgas::comm;

int twice(int x) { return 2 * x; }
int thrice(int x) noexcept { return 3 * x; }
void other(double) {}

template <int N>
int plus(int x) {
  return x + N;
}
template <int... Ns>
std::set<handler_id> ids(std::integer_sequence<int, Ns...>) {
  return {id_of<&plus<Ns>>()...};
}

// Its id is requested only in a function that is never called.
void never_called_thunk() {}
[[maybe_unused]] handler_id never_called() { return id_of<&never_called_thunk>(); }

TEST(handler, found_by_id_and_signature) {
  const handler_id id = id_of<&twice>();
  EXPECT_EQ(id, id_of<&twice>());
  auto* found = lookup<int(int)>(id);
  ASSERT_EQ(found, &twice);
  EXPECT_EQ(found(21), 42);
  EXPECT_EQ(lookup<int(int)>(id_of<&thrice>())(5), 15);
  EXPECT_EQ(lookup<int(int) noexcept>(id_of<&twice>())(5), 10);
}

TEST(handler, another_signature_is_refused) {
  EXPECT_EQ(lookup<void(int)>(id_of<&twice>()), nullptr);
  EXPECT_EQ(lookup<int(int)>(id_of<&other>()), nullptr);
  EXPECT_NE(find_handler(id_of<&other>()), nullptr);
}

TEST(handler, many_thunks_have_distinct_ids) {
  const auto all = ids(std::make_integer_sequence<int, 300>{});
  EXPECT_EQ(all.size(), 300u);
  std::set<int> results;
  for (const handler_id id : all) {
    auto* f = lookup<int(int)>(id);
    ASSERT_NE(f, nullptr);
    results.insert(f(0));
  }
  EXPECT_EQ(results.size(), 300u);
}

TEST(handler, garbage_is_refused) {
  EXPECT_EQ(find_handler(0), nullptr);
  EXPECT_EQ(find_handler(~handler_id{0}), nullptr);
  const handler_id id = id_of<&twice>();
  for (int bit = 0; bit < 64; ++bit) {
    const handler_entry* hit = find_handler(id ^ (handler_id{1} << bit));
    EXPECT_TRUE(hit == nullptr || hit->id != id);
  }
  // Addresses inside a thunk, and of other code.
  EXPECT_EQ(find_handler(id + 1), nullptr);
  apgas::base::random_engine random(3);
  for (int i = 0; i < 100'000; ++i) {
    const handler_id guess = random();
    EXPECT_EQ(find_handler(guess), nullptr) << guess;
  }
}

TEST(handler, is_registered_even_if_never_called) {
  const auto address = reinterpret_cast<std::uintptr_t>(&never_called_thunk);
  const auto known = reinterpret_cast<std::uintptr_t>(&twice);
  const handler_id id = id_of<&twice>() + address - known;
  ASSERT_NE(find_handler(id), nullptr);
  EXPECT_EQ(lookup<void()>(id), &never_called_thunk);
}

TEST(handler, is_removed_with_its_library) {
  handler_id id = 0;
  {
    const handler_registration here{+[](char c) { return c; }};
    id = here.id();
    EXPECT_NE(lookup<char(char)>(id), nullptr);
  }
  EXPECT_EQ(find_handler(id), nullptr);
}

TEST(handler, the_fingerprint_is_stable) {
  EXPECT_NE(binary_fingerprint(), 0u);
  EXPECT_EQ(binary_fingerprint(), binary_fingerprint());
}

}  // namespace
