// SPDX-License-Identifier: Apache-2.0

#include <string>

#include <optional>
#include <string_view>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>

namespace comm = apgas::comm;

int main() {
#ifdef APGAS_TEST_CONTROL
  auto f = [](const std::string& s) { return s.size(); };
  static_assert(comm::require_sendable_value<std::string>());
#else
  auto f = [s = std::string("x")] { return s.size(); };
#endif
  return comm::require_sendable_closure<decltype(f)>() ? 0 : 1;
}
