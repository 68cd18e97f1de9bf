// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the policies for several places have in common. Each place has a block of the nodes and runs
// the kernel on them, without being directed by another place. Its main task is registered on one
// clock with those of the other places, from beginning to end.
//
// Calls to nodes at other places wait until this place has finished the phase. Then they are sent,
// one message to each place, as a task that is registered on the clock, too. So the phase does not
// end before all of them have arrived. A phase without letters costs what the clock costs: one
// arrival and one release for each place.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ranges>
#include <type_traits>
#include <vector>

#include <apgas/apgas.hpp>

#include "imsuite/office.hpp"
#include "imsuite/steps.hpp"

namespace imsuite {

class over_places : public round_counts {
 public:
  // Context: a task that is registered on the clock of a clocked_finish, one at each place.
  explicit over_places(offices all)
      : all_(all), mine_(*all), here_(apgas::here().id()), places_(apgas::num_places()) {}

  // Announces the kernel to which letters are addressed. Must be called at every place before the
  // first tell().
  template <class Kernel>
  void serve(Kernel& kernel) {
    mine_.kernel = reinterpret_cast<std::byte*>(&kernel);
    apgas::clock::advance_all();
  }

  [[nodiscard]] auto block(int) const {
    return std::views::iota(mine_.whose.first(here_), mine_.whose.end(here_));
  }
  template <class T>
  auto own(per_node<T>& nodes) {
    return std::ranges::subrange(nodes.begin() + mine_.whose.first(here_),
                                 nodes.begin() + mine_.whose.end(here_));
  }

  template <class Phase>
  void each(int nodes, const Phase& f) {
    each_of(block(nodes), f);
  }
  template <class Section>
  static void atomic(Section f) {
    apgas::atomic(f);
  }

  template <class T, class F, class... Args>
  void tell(per_node<T>& nodes, int node, F f, const Args&... args) {
    const int p = mine_.whose.place_of(node);
    if (p == here_) {
      f(nodes[node], args...);
    } else {
      write<F>(p, nodes, node, args...);
    }
  }
  template <class T, class M>
  void show(per_node<T>& nodes, int node, M T::* member) {
    const auto set = [](T& v, M T::* m, const M& value) { v.*m = value; };
    for (int p = 0; p < places_; ++p) {
      if (p != here_)
        write<std::remove_const_t<decltype(set)>>(p, nodes, node, member, nodes[node].*member);
    }
  }

  // Cost: a phase, and a message to each other place.
  int total(int mine);
  int known_to(int node, int value) {
    return total(mine_.whose.place_of(node) == here_ ? value : 0);
  }

  // The number of messages sent to other places, without those of the clock.
  [[nodiscard]] std::int64_t messages() const { return messages_; }

 protected:
  // Runs f for each of the nodes in a task, and then takes part in a phase.
  template <class Nodes, class Phase>
  void each_of(const Nodes& nodes, const Phase& f) {
    apgas::finish([&] {
      for (const int node : nodes) apgas::async([&f, node] { f(node); });
    });
    send_letters();
    apgas::clock::advance_all();
  }

  // Runs rounds of this place's live nodes while any node is alive at any place.
  template <class Live, class Round>
  void rounds_of_living(int nodes, const Live& live, const Round& round) {
    std::vector<int> living(block(nodes).begin(), block(nodes).end());
    while (true) {
      std::erase_if(living, [&live](int node) { return !live(node); });
      if (total(living.empty() ? 0 : 1) == 0) return;
      round(living);
    }
  }

  // Requires: no task of this place calls tell() at the same time. Context: a task registered on
  // the clock; the phase does not end before the letters have been performed.
  void send_letters();

 private:
  template <class F, class T, class... Args>
  void write(int place, per_node<T>& nodes, int node, const Args&... args) {
    const auto at_node = [](per_node<T>& there, int i, const Args&... a) { F()(there[i], a...); };
    const std::ptrdiff_t where = reinterpret_cast<std::byte*>(&nodes) - mine_.kernel;
    mine_.outgoing[static_cast<std::size_t>(place)].write([&](letters& to) {
      write_letter<std::remove_const_t<decltype(at_node)>, per_node<T>>(to, where, node, args...);
    });
  }

  const offices all_;
  office& mine_;
  const int here_;
  const int places_;
  std::size_t totals_ = 0;
  std::int64_t messages_ = 0;
};

}  // namespace imsuite
