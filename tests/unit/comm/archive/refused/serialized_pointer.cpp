// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <string_view>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>

namespace comm = apgas::comm;

struct list {
#ifdef APGAS_TEST_CONTROL
  std::unique_ptr<int> first;
#else
  int* first = nullptr;
#endif
  template <class Archive>
  void serialize(Archive& archive) {
    archive(first);
  }
};

int main() {
  comm::out_archive out;
  out(list{});
  return static_cast<int>(out.size());
}
