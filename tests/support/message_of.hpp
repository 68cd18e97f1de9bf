// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace apgas::test {

// Returns the message of the Error that f throws.
template <class Error, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace apgas::test
