// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <string_view>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>

namespace comm = apgas::comm;

struct thing {
  int member = 0;
  bool check() {
#ifdef APGAS_TEST_CONTROL
    auto f = [copy = *this] { return copy.member; };
#else
    auto f = [this] { return member; };
#endif
    return comm::require_sendable_closure<decltype(f)>();
  }
};

int main() { return thing{}.check() ? 0 : 1; }
