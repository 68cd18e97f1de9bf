// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <string_view>

#include <apgas/comm/archive.hpp>
#include <apgas/comm/sendable.hpp>

namespace comm = apgas::comm;

#ifdef APGAS_TEST_CONTROL
using argument = std::string;
#else
using argument = const char*;
#endif

int main() { return comm::require_sendable_value<argument>() ? 0 : 1; }
