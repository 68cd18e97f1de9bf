// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes an unchanged parlaylib run on the workers of this runtime. The compiler includes this file
// before the first line of a program:
//
//   g++ -std=c++20 -I <parlaylib>/include -I <this folder> -include apgas_parlay.hpp ...
//
// <parlay/parallel.h> chooses a scheduler by macros. This file chooses the serial one and defines
// the guard of its header, so that parlaylib leaves the functions of the scheduler undefined.
// apgas_parlay_scheduler.hpp defines them.

#if defined(PARLAY_PARALLEL_H_)
#error "apgas_parlay.hpp must come before parlaylib: compile with -include apgas_parlay.hpp"
#endif
#if defined(PARLAY_CILKPLUS) || defined(PARLAY_OPENCILK) || defined(PARLAY_OPENMP) || \
    defined(PARLAY_TBB)
#error "apgas_parlay.hpp chooses the scheduler: compile without PARLAY_OPENMP and its like"
#endif

// NOLINTBEGIN(readability-identifier-naming): parlaylib's names
#ifndef PARLAY_SEQUENTIAL
#define PARLAY_SEQUENTIAL
#endif
#define PARLAY_INTERNAL_SCHEDULER_PLUGINS_SEQUENTIAL_H_
// NOLINTEND(readability-identifier-naming)

#include <parlay/parallel.h>

#include "apgas_parlay_main.hpp"
#include "apgas_parlay_scheduler.hpp"
