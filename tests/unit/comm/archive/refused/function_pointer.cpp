// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <string_view>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>

namespace comm = apgas::comm;

int f() { return 0; }

int main() {
#ifdef APGAS_TEST_CONTROL
  auto g = [] { return f(); };
#else
  auto g = &f;
#endif
  return comm::require_sendable_closure<decltype(g)>() ? 0 : 1;
}
