// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <optional>

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
  node nodes[2];
};

int main() {
  auto f = [o = outer{}] { return o.nodes[0].value; };
  return comm::require_sendable_closure<decltype(f)>() ? 0 : 1;
}
