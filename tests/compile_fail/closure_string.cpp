// SPDX-License-Identifier: Apache-2.0
// A closure that captures a string is not trivially copyable; the string must be passed as an
// argument.
#include <string>

#include <apgas/at.hpp>

void send(apgas::place p) {
  std::string text = "text";
#ifdef APGAS_TEST_CONTROL
  apgas::at(p, [](const std::string& t) { return t.size(); }, text);
#else
  apgas::at(p, [text] { return text.size(); });
#endif
}
