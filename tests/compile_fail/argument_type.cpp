// SPDX-License-Identifier: Apache-2.0
// A class that is not trivially copyable needs a Cereal serialize.
#include <string>

#include <apgas/at.hpp>

struct person {
  std::string name;
#ifdef APGAS_TEST_CONTROL
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name);
  }
#endif
};

void send(apgas::place p) {
  apgas::at(p, [](const person& someone) { return someone.name.size(); }, person{"Ada"});
}
