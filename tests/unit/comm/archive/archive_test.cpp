// SPDX-License-Identifier: Apache-2.0

// Archives: values are read as they were written, their encoding has the documented size, and bytes
// that encode no value are refused before memory is allocated.

#include <apgas/comm/archive.hpp>

#include <bitset>
#include <chrono>
#include <complex>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>
#include <apgas/errors.hpp>

namespace {

using namespace apgas::comm;
using apgas::serialization_error;

struct point {
  int x;
  double y;
  bool operator==(const point&) const = default;
};
struct person {
  std::string name;
  std::vector<point> path;
  std::map<int, std::optional<std::string>> notes;
  bool operator==(const person&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, path, notes);
  }
};
struct split {  // trivially copyable with save and load, which take precedence over its bytes
  int value = 0;
  template <class Archive>
  void save(Archive& archive) const {
    archive(value + 1);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(value);
    ++value;
  }
};
struct nothing_written {
  int cache = 5;
  template <class Archive>
  void serialize(Archive&) {}
};
struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};
struct boost_style {
  int a = 0;
  std::string b;
  template <class Archive>
  void serialize(Archive& archive) {
    archive & a & b;
  }
};
struct throwing {
  template <class Archive>
  void serialize(Archive&) {
    throw std::logic_error("mine");
  }
};
struct empty {};
enum class colour : char { red, green };

template <class... Ts>
std::size_t round_trip(const Ts&... values) {
  out_archive out;
  out(values...);
  {
    in_archive in(out.bytes());
    const std::tuple<Ts...> copies{in.read<Ts>()...};  // braces guarantee the order
    in.expect_end();
    EXPECT_EQ(copies, std::tuple<Ts...>(values...));
  }
  return out.size();
}

TEST(archive, plain_values_occupy_their_size) {
  EXPECT_EQ(round_trip(1), 4u);
  EXPECT_EQ(round_trip(point{1, 2.5}, 'c', true, colour::green), sizeof(point) + 3);
  EXPECT_EQ(round_trip(std::complex<double>(1, 2), std::chrono::nanoseconds(5),
                       std::bitset<70>("1011"), std::array<int, 3>{1, 2, 3}),
            16u + 8u + 16u + 12u);
  out_archive out;
  out(empty{}, empty{});
  EXPECT_EQ(out.size(), 0u);
}

TEST(archive, contiguous_ranges_are_copied_at_once) {
  EXPECT_EQ(round_trip(std::string("hello")), 8u + 5u);
  EXPECT_EQ(round_trip(std::vector<point>{{1, 2}, {3, 4}}), 8u + 2 * sizeof(point));
  EXPECT_EQ(round_trip(std::string(), std::vector<int>()), 16u);
  EXPECT_EQ(round_trip(std::u32string(U"abc")), 8u + 12u);
  // The elements are at an odd address, so alignment must not be assumed.
  EXPECT_EQ(round_trip('x', std::vector<double>{1, 2, 3}), 1u + 8u + 24u);
}

TEST(archive, types_that_cereal_serialises) {
  round_trip(std::vector<bool>{true, false, true}, std::vector<std::string>{"a", "", "ccc"},
             std::vector<std::vector<point>>{{{1, 2}}, {}, {{3, 4}, {5, 6}}});
  round_trip(std::list<point>{{1, 2}}, std::deque<std::string>{"x"}, std::set<int>{3, 1, 2},
             std::map<std::string, point>{{"a", {1, 2}}},
             std::unordered_map<int, std::string>{{1, "one"}, {2, "two"}},
             std::unordered_set<std::string>{"p", "q"});
  round_trip(std::pair<int, std::string>{1, "x"},
             std::tuple<int, point, std::string>{1, {2, 3}, "y"}, std::optional<int>{},
             std::optional<std::string>{"z"}, std::variant<int, std::string>{"v"},
             std::variant<int, double>{1.5});
  round_trip(person{"ann", {{1, 2}, {3, 4}}, {{1, "note"}, {2, std::nullopt}}});
  round_trip(std::vector<person>(3, {"bob", {}, {}}));
}

TEST(archive, user_defined_serialisation) {
  out_archive out;
  out(split{10}, nothing_written{}, boost_style{1, "b"}, no_default{7});
  in_archive in(out.bytes());
  EXPECT_EQ(in.read<split>().value, 12);
  in.read<nothing_written>();
  EXPECT_EQ(in.read<boost_style>().b, "b");
  EXPECT_EQ(in.read<no_default>().value, 7);
  in.expect_end();
  EXPECT_THROW(out(throwing{}), std::logic_error);
}

TEST(archive, values_that_write_nothing) {
  out_archive out;
  out(std::vector<nothing_written>(1000), std::vector<empty>(500), 3);
  in_archive in(out.bytes());
  EXPECT_EQ(in.read<std::vector<nothing_written>>().size(), 1000u);
  EXPECT_EQ(in.read<std::vector<empty>>().size(), 500u);
  EXPECT_EQ(in.read<int>(), 3);
}

TEST(archive, pointers_that_are_shared_stay_shared) {
  const auto shared = std::make_shared<person>(person{"x", {}, {}});
  out_archive out;
  out(shared, 1);
  out(std::vector<std::shared_ptr<person>>{shared, nullptr}, std::make_unique<int>(5));
  in_archive in(out.bytes());
  const auto first = in.read<std::shared_ptr<person>>();
  EXPECT_EQ(in.read<int>(), 1);
  const auto others = in.read<std::vector<std::shared_ptr<person>>>();
  EXPECT_EQ(*first, *shared);
  EXPECT_EQ(first, others.at(0));
  EXPECT_EQ(others.at(1), nullptr);
  EXPECT_EQ(*in.read<std::unique_ptr<int>>(), 5);
}

TEST(archive, grows_beyond_its_inline_bytes) {
  out_archive out;
  for (int i = 0; i < 64; ++i) out(i);
  EXPECT_EQ(out.size(), out_bytes::inline_bytes);
  EXPECT_FALSE(out.in_block());
  for (int i = 64; i < 100'000; ++i) out(i);
  EXPECT_TRUE(out.in_block());
  in_archive in(out.bytes());
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(in.read<int>(), i);
  in.expect_end();
}

TEST(archive, a_taken_buffer_has_room_for_a_header_and_is_padded) {
  out_archive out;
  out(std::string(1001, 'x'));
  const std::size_t size = out.size();
  const std::byte* bytes = out.bytes().data();
  const buffer block = out.take();
  EXPECT_EQ(block.data() + sizeof(frame_header), bytes);
  EXPECT_EQ(block.size(), frame_bytes(size));
  for (std::size_t i = sizeof(frame_header) + size; i < block.size(); ++i) {
    EXPECT_EQ(block.data()[i], std::byte{0});
  }
  EXPECT_EQ(out.size(), 0u);
  out(1);  // usable again
  EXPECT_EQ(out.size(), 4u);
}

// Every proper prefix of an encoding is refused.
TEST(archive, truncated_bytes_are_refused) {
  using all = std::tuple<point, std::string, std::vector<double>, person, std::optional<int>,
                         std::map<int, std::string>, std::variant<int, std::string>>;
  const all value{{1, 2}, "text",       {1, 2, 3},       {"ann", {{1, 2}}, {{1, "note"}}},
                  4,      {{1, "one"}}, std::string("v")};
  out_archive out;
  out(value);
  for (std::size_t size = 0; size < out.size(); ++size) {
    in_archive in(out.bytes().first(size));
    EXPECT_THROW(in.read<all>(), serialization_error) << size;
  }
}

TEST(archive, leftover_bytes_are_refused) {
  out_archive out;
  out(1, 2);
  in_archive in(out.bytes());
  in.read<int>();
  EXPECT_EQ(in.remaining(), 4u);
  EXPECT_THROW(in.expect_end(), serialization_error);
}

// A length of nearly 2^64, and one that is too large by one, are refused before memory is
// allocated.
TEST(archive, impossible_lengths_are_refused) {
  for (const std::uint64_t length : {~std::uint64_t{0}, std::uint64_t{1} << 61, std::uint64_t{3}}) {
    out_archive out;
    out(length, std::uint16_t{0});
    const auto refuses = [&]<class T>(T value) {
      in_archive in(out.bytes());
      EXPECT_THROW(in(value), serialization_error);
    };
    refuses(std::string());
    refuses(std::vector<int>());
    refuses(std::vector<bool>());
    refuses(std::vector<std::string>());
    refuses(std::vector<person>());
    refuses(std::map<int, int>());
    refuses(std::list<std::string>());
    refuses(std::deque<char>());
  }
}

TEST(archive, a_nonexistent_choice_is_refused) {
  out_archive out;
  out(std::int32_t{7}, std::uint64_t{0});
  std::variant<int, std::string> value;
  in_archive in(out.bytes());
  EXPECT_THROW(in(value), serialization_error);
}

TEST(archive, more_than_a_message_holds_is_refused) {
  out_bytes out;
  const char c = 0;
  out.append(&c, 1);
  for (volatile std::size_t size : {max_payload_bytes, ~std::size_t{0}}) {  // the compiler warns
    EXPECT_THROW(out.append(&c, size), serialization_error);
  }
  EXPECT_EQ(out.size(), 1u);
}

// Random bytes never crash a reader, and never make it allocate more than they could hold.
TEST(archive, random_bytes_are_read_or_refused) {
  using all = std::tuple<std::string, std::vector<std::string>, std::map<int, std::vector<int>>,
                         std::variant<int, std::string>, std::shared_ptr<std::string>>;
  apgas::base::random_engine random(7);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes(random.below(200));
    for (std::byte& b : bytes) {
      b = random.below(3) == 0 ? static_cast<std::byte>(random.below(256)) : std::byte{0};
    }
    in_archive in(bytes);
    try {
      in.read<all>();
    } catch (const serialization_error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
