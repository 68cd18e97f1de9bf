// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pbbs/sequence.hpp"

namespace pbbs {

// What is sorted: a key of a sequence, and its position there, which shows whether a sort keeps
// the order of equal keys.
struct record {
  word key;
  word position;
};

}  // namespace pbbs
