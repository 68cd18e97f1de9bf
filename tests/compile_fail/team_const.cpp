// SPDX-License-Identifier: Apache-2.0
// A collective that would write to const elements.
#include <functional>
#include <span>

#include <apgas/team.hpp>

#ifdef APGAS_TEST_CONTROL
using value = int;
#else
using value = const int;
#endif

void use(const apgas::team& t, std::span<value> data) { t.allreduce(data, std::plus<>()); }
