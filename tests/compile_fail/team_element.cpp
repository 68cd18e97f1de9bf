// SPDX-License-Identifier: Apache-2.0
// A collective over a span of elements that cannot be copied as bytes.
#include <span>
#include <string>

#include <apgas/team.hpp>

#ifdef APGAS_TEST_CONTROL
using value = long;
#else
using value = std::string;
#endif

void use(const apgas::team& t, std::span<value> data) { t.broadcast(data, apgas::place()); }
