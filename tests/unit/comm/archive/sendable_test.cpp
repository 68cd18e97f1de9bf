// SPDX-License-Identifier: Apache-2.0

// The types that at and async_at accept. refused/*.cpp tests the compile errors for those they
// refuse.

#include <apgas/comm/sendable.hpp>

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/comm/archive.hpp>

namespace {

using apgas::comm::in_archive;
using apgas::comm::out_archive;
using apgas::comm::sendable_closure;
using apgas::comm::sendable_result;
using apgas::comm::sendable_value;

struct unknown {
  std::string text;
};
struct serialized {
  std::string text;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(text);
  }
};
struct tree {  // a recursive type
  int value = 0;
  std::vector<tree> children;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value, children);
  }
};
struct function_object {
  std::string greeting;
  std::string operator()(const std::string& name) const { return greeting + name; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(greeting);
  }
};
struct no_constexpr {
  explicit no_constexpr(int* p) : pointer(p) {}
  int* pointer;
};
struct pointers {
  int a;
  struct {
    double d;
    int* p;
  } inner;
};

template <class... Ts>
constexpr bool all = (sendable_value<Ts> && ...);
template <class... Ts>
constexpr bool none = (!sendable_value<Ts> && ...);

static_assert(all<int, double, std::string, serialized, tree, std::vector<tree>>);
static_assert(all<std::pair<int, std::string>, std::tuple<int, serialized>, std::optional<int>,
                  std::optional<std::string>, std::variant<int, std::string>>);
static_assert(all<std::vector<bool>, std::deque<int>, std::list<serialized>, std::set<int>,
                  std::map<int, std::vector<serialized>>,
                  std::unordered_map<std::string, std::optional<int>>>);
static_assert(
    all<std::unique_ptr<int>, std::shared_ptr<serialized>, std::vector<std::unique_ptr<tree>>>);
static_assert(none<int*, const char*, std::nullptr_t, std::string_view, unknown, pointers>);
static_assert(none<std::vector<unknown>, std::vector<int*>, std::map<int, int*>,
                   std::optional<unknown>, std::pair<int, const char*>, std::tuple<unknown>,
                   std::variant<int, unknown>, std::unique_ptr<unknown>, std::shared_ptr<int*>>);
static_assert(sendable_result<void> && sendable_result<int> && !sendable_result<int*>);

template <class F>
constexpr bool closure(const F&) {
  return sendable_closure<F>;
}

TEST(sendable, closures_that_can_be_sent) {
  int x = 1;
  int y = 2;
  int* p = &y;
  const pointers inside{};
  EXPECT_TRUE(closure([] { return 1; }));
  EXPECT_TRUE(closure([x, z = 2.0] { return x + z; }));
  EXPECT_TRUE(closure([x]() mutable { return x; }));
  EXPECT_TRUE(closure([inner = [x] { return x; }] { return inner(); }));
  EXPECT_FALSE(closure([&y] { return y; }));
  EXPECT_FALSE(closure([x, &y] { return x + y; }));
  EXPECT_FALSE(closure([p] { return *p; }));
  EXPECT_FALSE(closure([inside] { return inside.a; }));
  EXPECT_FALSE(closure([inner = [&y] { return y; }] { return inner(); }));
  EXPECT_FALSE(closure([s = std::string()] { return s; }));
  EXPECT_FALSE(closure([o = std::optional<int>()] { return o; }));
  EXPECT_FALSE(closure([h = no_constexpr(p)] { return h.pointer; }));
  EXPECT_TRUE(sendable_closure<function_object>);
  EXPECT_FALSE(sendable_closure<int (*)(int)>);
}

TEST(sendable, closures_keep_their_captures) {
  int x = 20;
  auto sum = [x, y = 1.5](int z) { return x + y + z; };
  out_archive out;
  auto seven = [] { return 7; };
  out(seven, sum, function_object{"hello "});
  in_archive in(out.bytes());

  EXPECT_EQ(in.read<decltype(seven)>()(), 7);
  EXPECT_EQ(in.read<decltype(sum)>()(100), 121.5);
  EXPECT_EQ(in.read<function_object>()("there"), "hello there");
  in.expect_end();
}

}  // namespace
