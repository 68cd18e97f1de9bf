// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <string_view>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>

namespace comm = apgas::comm;

struct person {
  std::string name;
#ifdef APGAS_TEST_CONTROL
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name);
  }
#endif
};

int main() { return comm::require_sendable_value<person>() ? 0 : 1; }
