// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include <string>
#include <string_view>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>

namespace comm = apgas::comm;

int main() {
#ifdef APGAS_TEST_CONTROL
  auto f = [](std::optional<int> x) { return x.has_value(); };
  static_assert(comm::require_sendable_value<std::optional<int>>());
#else
  auto f = [x = std::optional<int>(1)] { return x.has_value(); };
#endif
  return comm::require_sendable_closure<decltype(f)>() ? 0 : 1;
}
