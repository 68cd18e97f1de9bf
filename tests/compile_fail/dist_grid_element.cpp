// SPDX-License-Identifier: Apache-2.0
// Elements of a distributed array that are pointers.
#include <apgas/dist_grid.hpp>

void use() { apgas::dist_grid<int*>(10, 10); }
