// SPDX-License-Identifier: Apache-2.0
// A reduction of values that cannot be copied as bytes.
#include <functional>
#include <string>

#include <apgas/team.hpp>

#ifdef APGAS_TEST_CONTROL
using value = int;
#else
using value = std::string;
#endif

void use(const apgas::team& t) { static_cast<void>(t.allreduce(value(), std::plus<>())); }
