// SPDX-License-Identifier: Apache-2.0

// Stands in for parlaylib's header of this name, so that the test needs no parlaylib: the same
// guard, the same declarations, and the same rule that PARLAY_SEQUENTIAL selects a scheduler
// whose header has a guard of its own.

#ifndef PARLAY_PARALLEL_H_
#define PARLAY_PARALLEL_H_  // NOLINT(readability-identifier-naming): parlaylib's name

#include <cstddef>

namespace parlay {

inline std::size_t num_workers();
inline std::size_t worker_id();

template <typename F>
inline void parallel_for(std::size_t start, std::size_t end, F&& f, long granularity = 0,
                         bool conservative = false);

template <typename Lf, typename Rf>
inline void par_do(Lf&& left, Rf&& right, bool conservative = false);

}  // namespace parlay

#if !defined(PARLAY_SEQUENTIAL) || !defined(PARLAY_INTERNAL_SCHEDULER_PLUGINS_SEQUENTIAL_H_)
#error "the plug-in has not taken the place of the serial scheduler"
#endif

#endif  // PARLAY_PARALLEL_H_
