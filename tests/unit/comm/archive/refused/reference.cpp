// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <string_view>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>

namespace comm = apgas::comm;

int main() {
  int x = 0;
#ifdef APGAS_TEST_CONTROL
  auto f = [x] { return x; };
#else
  auto f = [&x] { return x; };
#endif
  return comm::require_sendable_closure<decltype(f)>() ? 0 : 1;
}
