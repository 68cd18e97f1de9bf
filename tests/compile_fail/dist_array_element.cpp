// SPDX-License-Identifier: Apache-2.0
// Elements of a distributed array that cannot be copied as bytes.
#include <string>

#include <apgas/dist_array.hpp>

void use() { apgas::dist_array<std::string>(10, apgas::distribution::block()); }
