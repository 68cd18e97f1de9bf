// SPDX-License-Identifier: Apache-2.0
#pragma once

// oneTBB as a peer, in programs that are built with it (APPS_TBB).

#if defined(APPS_TBB)
#include <cstddef>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

namespace apps {

// Runs f() in an arena of oneTBB with that many threads, one of which is the calling thread, and
// returns its result. Context: a thread that is no worker, such as a peer_thread.
template <class F>
auto in_tbb_arena(int threads, F f) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  tbb::task_arena arena(threads);
  return arena.execute(f);
}

}  // namespace apps
#endif
