// SPDX-License-Identifier: Apache-2.0

// Which types may be sent as their bytes. The compiler decides, so most of the checks are static
// assertions. The test shows that a copy of the bytes is the value.

#include <apgas/comm/byte_copyable.hpp>

#include <array>
#include <chrono>
#include <complex>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace {

using apgas::comm::byte_copyable;

enum class colour : char { red, green };

struct plain {
  int a;
  double b[3];
};
struct derived : plain {
  char c;
};
struct bits {
  int low : 3;
  int high : 5;
};
struct with_private {
  explicit constexpr with_private(int v) : value(v) {}
  int get() const { return value; }

 private:
  int value;
};
struct vector3 {  // no constexpr constructor
  vector3() {}    // NOLINT(*-member-init)
  vector3(double a, double b, double c) : x(a), y(b), z(c) {}
  double x, y, z;
};
struct particle {
  vector3 position;
  std::optional<int> charge;
};

// Harmless types that the language rule alone refuses.
struct with_optional {
  int id;
  std::optional<double> weight;
};
struct deep {
  struct {
    colour c;
    std::array<std::optional<int>, 2> o;
  } inner;
  std::variant<int, double> v;
  std::complex<double> z;
};
struct declared {
  explicit constexpr declared(int v) : value(v) {}
  std::optional<int> hidden() const { return value; }

 private:
  std::optional<int> value;
};

// Types that contain an address.
struct with_pointer {
  struct {
    int a;
    int* p;
  } inner;
};
struct pointer_behind_optional {
  std::optional<int> o;
  struct {
    int a;
    int* p;
  } inner;
};
struct optional_pointer {
  int a;
  std::optional<int*> o;
};
struct with_reference {
  const int& r;
};
struct with_view {
  int a;
  std::string_view text;
};
struct with_span {
  std::span<int> s;
  std::optional<int> o;
};
struct with_function {
  void (*f)();
};
struct with_member_pointer {
  int plain::* m;
  std::optional<int> o;
};
struct hidden_pointer {
  explicit constexpr hidden_pointer(int) {}
  const void* get() const { return p; }

 private:
  void* p = nullptr;
};
struct hidden_inside {
  int a;
  hidden_pointer h{1};
  std::optional<int> o;
};
struct hidden_in_variant {
  std::variant<int, hidden_pointer> v;
};
union number_or_pointer {
  long number;
  int* pointer;
};
struct with_union {
  number_or_pointer u;
  std::optional<int> o;
};
struct with_anonymous_union {
  union {
    int* p;
    long l;
  };
  std::optional<int> o;
};
struct pointer_arrays {
  double numbers[3];
  struct {
    char tag;
    const int* p;
  } parts[2];
};
struct with_dynamic {
  virtual ~with_dynamic() = default;
};

}  // namespace

template <>
inline constexpr bool apgas::send_as_bytes<declared> = true;

namespace {

template <class... Ts>
constexpr bool all_copyable = (byte_copyable<Ts> && ...);
template <class... Ts>
constexpr bool none_copyable = (!byte_copyable<Ts> && ...);

static_assert(all_copyable<int, const int, bool, colour, long double, std::byte, __int128>);
static_assert(all_copyable<plain, plain[4], derived, bits, with_private, std::monostate>);
static_assert(all_copyable<std::array<int, 5>, std::array<plain, 500>, std::complex<float>,
                           std::chrono::nanoseconds, std::chrono::steady_clock::time_point>);
static_assert(all_copyable<with_optional, deep, declared, vector3, vector3[2], particle>);

static_assert(none_copyable<int*, int* [2], const char*, std::nullptr_t, int plain::*, void (*)(),
                            int&, void()>);
static_assert(none_copyable<with_pointer, pointer_behind_optional, optional_pointer, with_reference,
                            with_view, with_span, with_function>);
static_assert(none_copyable<with_member_pointer, hidden_pointer, hidden_inside, hidden_in_variant,
                            number_or_pointer, with_union, with_anonymous_union>);
static_assert(none_copyable<pointer_arrays, std::array<int*, 2>, std::array<with_pointer, 1>,
                            std::array<pointer_arrays, 3>>);
static_assert(none_copyable<std::string, std::vector<int>, std::string_view, std::span<int>,
                            std::tuple<int>, with_dynamic>);

template <class T>
T through_bytes(const T& value) {
  apgas::comm::detail::raw_bytes<sizeof(T)> bytes;
  std::memcpy(&bytes, &value, sizeof(T));
  return __builtin_bit_cast(T, bytes);
}

TEST(byte_copyable, a_copy_of_the_bytes_is_the_value) {
  const auto weighted = through_bytes(with_optional{3, 2.5});
  EXPECT_EQ(weighted.id, 3);
  EXPECT_EQ(weighted.weight, 2.5);
  EXPECT_EQ(through_bytes(declared{4}).hidden(), 4);
  EXPECT_EQ(through_bytes(with_private{5}).get(), 5);
  const auto d = through_bytes(deep{{colour::green, {{{}, 7}}}, 1.5, {1, 2}});
  EXPECT_EQ(d.inner.c, colour::green);
  EXPECT_FALSE(d.inner.o[0].has_value());
  EXPECT_EQ(d.inner.o[1], 7);
  EXPECT_EQ(std::get<double>(d.v), 1.5);
  EXPECT_EQ(d.z, std::complex<double>(1, 2));
}

}  // namespace
