// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <string_view>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>

namespace comm = apgas::comm;

struct node {
  int value;
#ifdef APGAS_TEST_CONTROL
  long next;
#else
  node* next;
#endif
};

struct outer {
  node first;
  node last;
};

int main() {
  auto f = [o = outer{}] { return o.first.value; };
  return comm::require_sendable_closure<decltype(f)>() ? 0 : 1;
}
