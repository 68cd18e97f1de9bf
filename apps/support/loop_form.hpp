// SPDX-License-Identifier: Apache-2.0
#pragma once

// One parallel loop in the forms that Chapel has for it, serially, and by other libraries:
//
//   begin     a task for each chunk, in a finish (Chapel: begin in a sync statement)
//   cobegin   two halves at the same time, and so on recursively (fork_join)
//   coforall  a task for each chunk
//   forall    as many tasks as the library chooses
//   serial    one chunk after the other
//   openmp    omp parallel for, with a dynamic schedule
//   tbb       tbb::parallel_for
//
// All forms have the same chunks. So a program that adds up the results of chunks in their order
// computes the same sum, to the last bit, in every form.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#if defined(APPS_TBB)
#include <oneapi/tbb/parallel_for.h>
#endif

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/peer_thread.hpp"
#include "support/peers.hpp"
#include "support/share.hpp"
#include "support/tbb_arena.hpp"

namespace apps {

class loop_form {
 public:
  // Declares the option --variant of a program, whose values are those of `others` and the forms.
  static void declare(command_line& line, std::string& value, std::vector<std::string> others,
                      const std::string& help) {
    for (const char* form : {"begin", "cobegin", "coforall", "forall", "serial"}) {
      others.emplace_back(form);
    }
    declare_variant(line, value, std::move(others), help);
  }

  // Must be constructed before the runtime starts, because of the thread of a peer.
  explicit loop_form(std::string name) : name_(std::move(name)) {
    if (is_peer(name_)) peer_.emplace();
  }

  // Calls f(), in which each_chunk may be called. Context: task; may suspend, or block the worker.
  template <class F>
  void run(F f) {
    workers_ = apgas::num_workers();
    if (!peer_) return f();
    peer_->run([&] {
#if defined(APPS_TBB)
      if (name_ == "tbb") return in_tbb_arena(workers_, f);
#endif
      f();
    });
  }

  // The number of chunks of a loop over n elements.
  static int chunks(std::size_t n) { return static_cast<int>(std::min<std::size_t>(n, 64)); }

  // Calls body(chunk, elements) for each chunk of [0, n), and waits for all. body must not throw.
  template <class Body>
  void each_chunk(std::size_t n, const Body& body) const {
    const int all = chunks(n);
    const auto one = [&body, all, n](int chunk) {
      body(static_cast<std::size_t>(chunk), share(chunk, all, 0, static_cast<std::ptrdiff_t>(n)));
    };
    if (name_ == "begin") {
      apgas::finish([&] {
        for (int i = 0; i < all; ++i) apgas::begin([&one, i] { one(i); });
      });
    } else if (name_ == "cobegin") {
      if (all != 0) by_halves(0, all, one);
    } else if (name_ == "coforall") {
      apgas::coforall(0, all, one);
    } else if (name_ == "forall") {
      apgas::forall(0, all, one);
    } else if (name_ == "serial") {
      for (int i = 0; i < all; ++i) one(i);
    } else {
      by_peer(all, one);
    }
  }

  [[nodiscard]] bool parallel() const { return name_ != "serial"; }

 private:
  template <class One>
  static void by_halves(int first, int last, const One& one) {
    if (last - first == 1) return one(first);
    const int middle = first + (last - first) / 2;
    apgas::fork_join([&one, first, middle] { by_halves(first, middle, one); },
                     [&one, middle, last] { by_halves(middle, last, one); });
  }

  template <class One>
  void by_peer([[maybe_unused]] int all, [[maybe_unused]] const One& one) const {
#if defined(_OPENMP)
    if (name_ == "openmp") {
#pragma omp parallel for num_threads(workers_) schedule(dynamic)
      for (int i = 0; i < all; ++i) one(i);
    }
#endif
#if defined(APPS_TBB)
    if (name_ == "tbb") tbb::parallel_for(0, all, one);
#endif
  }

  std::string name_;
  int workers_ = 1;
  std::optional<peer_thread> peer_;
};

}  // namespace apps
