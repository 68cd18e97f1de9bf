// SPDX-License-Identifier: Apache-2.0

// Reads values from arbitrary bytes. The first byte selects the type, the second one whether the
// bytes are aligned. A value that can be read is written and read again, and must be the same.

#include <algorithm>
#include <optional>
#include <vector>

#include <apgas/errors.hpp>

#include "archive_types.hpp"
#include "fuzz.hpp"

namespace apgas_fuzz {
namespace {

// Each value takes at least one byte, and the largest element of a container here takes about 100.
constexpr std::size_t most_memory(std::size_t input) { return 4096 + 512 * input; }

template <class T>
T read_all(std::span<const std::byte> bytes) {
  const bounded_memory bound(most_memory(bytes.size()));
  comm::in_archive in(bytes);
  T value = in.read<T>();
  if constexpr (sized<T>) in.expect_end();
  return value;
}

template <class T>
void check_type(std::span<const std::byte> bytes) {
  std::optional<T> value;
  try {
    value.emplace(read_all<T>(bytes));
  } catch (const apgas::serialization_error&) {
    return;  // refused
  }
  visit_choices(*value);
  comm::out_archive once;
  once(*value);
  const T again = read_all<T>(once.bytes());
  comm::out_archive twice;
  twice(again);
  if constexpr (unordered<T>) {
    require(again == *value, "a value is read as it was written");
    require(once.size() == twice.size(), "a value is always written with the same size");
  } else {
    require(std::ranges::equal(once.bytes(), twice.bytes()), "a value is read as it was written");
  }
}

template <class... Ts>
void check_one_of(types<Ts...>, unsigned which, std::span<const std::byte> bytes) {
  constexpr void (*checks[])(std::span<const std::byte>) = {check_type<Ts>...};
  checks[which % sizeof...(Ts)](bytes);
}

void check(std::span<const std::byte> bytes) {
  if (bytes.size() < 2) return;
  const auto which = std::to_integer<unsigned>(bytes[0]);
  if (std::to_integer<unsigned>(bytes[1]) % 2 == 0) {
    const std::vector<std::byte> aligned(bytes.begin() + 2, bytes.end());
    check_one_of(all_types{}, which, aligned);
  } else {
    std::vector<std::byte> odd(bytes.begin() + 1, bytes.end());
    check_one_of(all_types{}, which, std::span<const std::byte>(odd).subspan(1));
  }
}

}  // namespace
}  // namespace apgas_fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  apgas_fuzz::check(apgas_fuzz::input(data, size));
  return 0;
}
