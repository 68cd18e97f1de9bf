// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "uts/tree.hpp"

namespace uts {

// The serial program that the parallel ones are compared with. It expands a tree node at once and
// keeps the children on a stack, as the reference implementation does. Hashing siblings one after
// another lets the processor overlap the hashes, which is faster than the recursive form.
counts search_serially(const tree& t);

// The independent answer: another order (one path, one child at a time) and another SHA-1
// (portable).
counts search_by_path(const parameters& p);

}  // namespace uts
