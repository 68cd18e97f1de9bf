// SPDX-License-Identifier: Apache-2.0
// Must not compile: elements that cannot be copied as bytes.
#include <string>

#include <apgas/dist_array.hpp>

void use() { apgas::dist_array<std::string>(10, apgas::distribution::block()); }
