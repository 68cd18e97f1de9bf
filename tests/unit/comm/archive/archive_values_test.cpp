// SPDX-License-Identifier: Apache-2.0

// Bytes that are not a value of the type they are read as, and other cases that were found by
// fuzzing.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/comm/archive.hpp>
#include <apgas/errors.hpp>

namespace {

using namespace apgas::comm;
using apgas::serialization_error;

struct tree {
  std::vector<tree> children;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(children);
  }
};
struct first_member {
  std::string name;
  int number = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, number);
  }
};

// Writes one type and reads another.
template <class T, class... Written>
std::string refusal(const Written&... written) {
  out_archive out;
  out(written...);
  in_archive in(out.bytes());
  try {
    static_cast<void>(in.read<T>());
  } catch (const serialization_error& e) {
    return e.what();
  }
  return "accepted";
}

constexpr std::uint8_t two = 2;
constexpr std::uint64_t one_element = 1;

TEST(archive_values, a_bool_is_0_or_1) {
  EXPECT_NE(refusal<bool>(two).find("no value of bool"), std::string::npos);
  EXPECT_NE((refusal<std::array<bool, 2>>(true, two)), "accepted");
  EXPECT_NE(refusal<std::vector<bool>>(one_element, two), "accepted");
  EXPECT_NE(refusal<std::optional<std::string>>(two), "accepted");
  EXPECT_EQ((refusal<std::array<bool, 2>>(true, false)), "accepted");
}

TEST(archive_values, the_flag_of_an_optional_is_0_or_1) {
  for (const bool absent : {false, true}) {
    EXPECT_EQ(refusal<std::optional<int>>(absent, 7), "accepted");
  }
  EXPECT_NE(refusal<std::optional<int>>(two, 7), "accepted");
  EXPECT_NE(refusal<std::vector<std::optional<int>>>(one_element, two, 7), "accepted");
}

TEST(archive_values, the_index_of_a_variant_is_valid) {
  using choice = std::variant<std::int64_t, double, bool>;
  EXPECT_EQ(refusal<choice>(choice(2.5)), "accepted");
  for (const std::int32_t index : {2, 3, 255, -1}) {
    EXPECT_NE(refusal<choice>(index, std::int64_t{2}), "accepted") << index;  // 2: a bool of 2
  }
}

// A recursive type: no level may announce as many elements as the level above.
TEST(archive_values, the_sum_of_announced_elements_is_bounded) {
  constexpr std::size_t levels = 1000;
  out_archive out;
  for (std::size_t level = 0; level < levels; ++level) out(std::uint64_t{8 * (levels - level - 1)});
  in_archive in(out.bytes());
  try {
    static_cast<void>(in.read<tree>());
    FAIL();
  } catch (const serialization_error& e) {
    EXPECT_NE(std::string(e.what()).find("within others"), std::string::npos) << e.what();
    EXPECT_GT(in.remaining(), 8 * (levels - 10));  // within a few levels
  }
}

TEST(archive_values, equal_keys_keep_their_order) {
  const std::multimap<int, std::string> value{{1, "a"}, {2, "x"}, {1, "b"}, {1, "c"}};
  const std::multiset<std::string> keys{"p", "q", "p"};
  out_archive out;
  out(value, keys);
  in_archive in(out.bytes());
  EXPECT_EQ((in.read<std::multimap<int, std::string>>()), value);
  EXPECT_EQ(in.read<std::multiset<std::string>>(), keys);
  in.expect_end();
}

TEST(archive_values, a_shared_pointer_keeps_its_type) {
  const auto whole = std::make_shared<first_member>(first_member{"x", 1});
  const std::shared_ptr<std::string> part(whole, &whole->name);  // it has the same address
  const std::string text =
      refusal<std::pair<std::shared_ptr<first_member>, std::shared_ptr<std::string>>>(
          std::pair(whole, part));
  EXPECT_NE(text.find("of another type"), std::string::npos) << text;

  out_archive out;
  out(whole, std::shared_ptr<const first_member>(whole));
  in_archive in(out.bytes());
  const auto first = in.read<std::shared_ptr<first_member>>();
  EXPECT_EQ(first, in.read<std::shared_ptr<const first_member>>());
}

}  // namespace
