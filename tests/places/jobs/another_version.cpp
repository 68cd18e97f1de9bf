// SPDX-License-Identifier: Apache-2.0
// Makes a program of another version of apgas: replaces the library's endpoint.cpp.
#include <apgas/version.hpp>

#undef APGAS_VERSION
#define APGAS_VERSION 9'008'007
#include "endpoint.cpp"  // NOLINT(bugprone-suspicious-include): intended
