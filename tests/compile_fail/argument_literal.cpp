// SPDX-License-Identifier: Apache-2.0
// A string literal cannot be an argument: it decays to a pointer.
#include <string>

#include <apgas/at.hpp>

void send(apgas::place p) {
#ifdef APGAS_TEST_CONTROL
  apgas::at(p, [](const std::string& text) { return text.size(); }, std::string("text"));
#else
  apgas::at(p, [](const std::string& text) { return text.size(); }, "text");
#endif
}
