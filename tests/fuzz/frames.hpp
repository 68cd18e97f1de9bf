// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace apgas_fuzz {

// The handler id of task frames in the corpus.
inline constexpr std::uint64_t task_in_corpus = 0x7461'736b;

}  // namespace apgas_fuzz
