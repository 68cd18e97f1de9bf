// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <vector>

#include <apgas/apgas.hpp>
#include <apgas/sync/place_state.hpp>

#include "machine.hpp"
#include "place_calls.hpp"

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

// The other one of the first two places, or this place if it is the only one.
apgas::place other_place() {
  return apgas::num_places() == 1 ? apgas::here() : apgas::place(1 - apgas::here().id());
}

// The sum of what the tasks at place 1 have received. Each worker adds to a number of its own, so
// that the tasks neither need a locked operation nor share a cache line.
class sum_of_workers {
 public:
  void add(std::uint64_t value) {
    thread_local std::atomic<std::uint64_t>& own = cells_[threads_++ % most_workers].sum;
    own.store(own.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
  std::uint64_t take() {
    std::uint64_t all = 0;
    for (cell& each : cells_) all += each.sum.exchange(0);
    return all;
  }

 private:
  struct alignas(64) cell {
    std::atomic<std::uint64_t> sum{0};
  };
  // The workers of a run are fewer than the cells, so no two of them get the same one.
  std::array<cell, most_workers> cells_;
  std::atomic<std::size_t> threads_{0};  // that have added anything, in all runs
};

sum_of_workers sum_at_target;

struct sent {
  std::uint64_t frames;
  std::uint64_t messages;
  std::uint64_t of_finish;
};

sent sent_here() {
  const auto& place = apgas::sync::place_of(*apgas::scheduler::current_fiber());
  const apgas::comm::traffic t = place.endpoint->total_traffic();
  const auto f = place.finishes->count();
  return {t.frames_sent, t.messages_sent, f.returns + f.requests + f.grants};
}

sent sent_by_both() {
  if (apgas::num_places() == 1) return sent_here();
  const sent there = apgas::at(other_place(), [] { return sent_here(); });
  const sent ours = sent_here();
  return {ours.frames + there.frames, ours.messages + there.messages,
          ours.of_finish + there.of_finish};
}

using uninitialized_bytes = apgas::uninitialized_vector<std::byte>;

// An argument and a result of type T. Equality is checked only once, since it takes long for large
// values.
template <class T>
sample round_trips(const T& value, int rounds) {
  T back{};
  const auto begin = clock::now();
  for (int i = 0; i < rounds; ++i) {
    back = apgas::at(other_place(), [](const T& v) -> const T& { return v; }, value);
  }
  const double seconds = seconds_since(begin);
  return {seconds, back == value};
}

// The same with at_into, by which place 1 calls f. The argument is received into a vector that is
// not zeroed, and the result into memory of the caller.
template <class F>
sample round_trips_into(const uninitialized_bytes& value, int rounds, F f) {
  std::vector<std::byte> back(value.size());
  const auto begin = clock::now();
  for (int i = 0; i < rounds; ++i) {
    apgas::at_into(other_place(), std::span(back), f, value);
  }
  const double seconds = seconds_since(begin);
  return {seconds, std::ranges::equal(back, value)};
}

std::atomic<bool> came_back{false};  // of the last hop, at place 0

// Goes back and forth between the two places.
struct hop {
  void operator()(std::uint64_t left) const {
    if (left == 0) return came_back.store(true);
    apgas::async_at(other_place(), hop(), left - 1);
  }
};

// At both places.
std::uint64_t messages_that_waited() {
  const auto here = [] {
    const auto t =
        apgas::sync::place_of(*apgas::scheduler::current_fiber()).endpoint->total_traffic();
    return t.messages_sent - t.flushes[static_cast<int>(apgas::comm::flush_reason::at_once)];
  };
  return apgas::num_places() == 1 ? here() : here() + apgas::at(other_place(), here);
}

}  // namespace

sample lone_async_trips(int rounds, std::uint64_t& waited) {
  const std::uint64_t before = messages_that_waited();
  const auto begin = clock::now();
  apgas::finish([rounds] { hop()(2 * static_cast<std::uint64_t>(rounds)); });
  const double seconds = seconds_since(begin);
  waited = messages_that_waited() - before;
  return {seconds, came_back.exchange(false)};
}

sample at_round_trips(std::size_t bytes, int rounds) {
  if (bytes == sizeof(std::uint64_t)) return round_trips(std::uint64_t{42}, rounds);
  return round_trips(std::vector<std::byte>(bytes, std::byte{42}), rounds);
}

sample uninitialized_round_trips(std::size_t bytes, int rounds) {
  return round_trips(uninitialized_bytes(bytes, std::byte{42}), rounds);
}

sample at_into_round_trips(std::size_t bytes, int rounds) {
  const auto f = [](const uninitialized_bytes& v) -> const uninitialized_bytes& { return v; };
  return round_trips_into(uninitialized_bytes(bytes, std::byte{42}), rounds, f);
}

sample at_into_exchanges(std::size_t bytes, int rounds) {
  static uninitialized_bytes own;  // of place 1
  const auto set = [](std::size_t size) { own.assign(size, std::byte{42}); };
  apgas::at(other_place(), set, bytes);
  const auto f = [](const uninitialized_bytes&) -> const uninitialized_bytes& { return own; };
  const sample s = round_trips_into(uninitialized_bytes(bytes, std::byte{42}), rounds, f);
  apgas::at(other_place(), set, 0);
  return s;
}

sample future_round_trips(int rounds) {
  bool right = true;
  const auto begin = clock::now();
  for (int i = 0; i < rounds; ++i) {
    const auto sent = static_cast<std::uint64_t>(i);
    right &= apgas::async_future_at(
                 other_place(), [](std::uint64_t v) { return v; }, sent)
                 .get() == sent;
  }
  return {seconds_since(begin), right};
}

sample remote_finishes(int rounds) {
  const auto begin = clock::now();
  for (int i = 0; i < rounds; ++i) {
    apgas::finish([] { apgas::async_at(other_place(), [] {}); });
  }
  return {seconds_since(begin), true};
}

one_way one_way_tasks(int tasks) {
  const sent before = sent_by_both();
  const auto begin = clock::now();
  apgas::finish([tasks] {
    for (int i = 0; i < tasks; ++i) {
      apgas::async_at(
          other_place(), [](std::uint64_t v) { sum_at_target.add(v); },
          static_cast<std::uint64_t>(i));
    }
  });
  const double seconds = seconds_since(begin);
  const sent after = sent_by_both();
  const auto sum = apgas::at(other_place(), [] { return sum_at_target.take(); });
  const auto n = static_cast<std::uint64_t>(tasks);
  one_way result{{seconds, sum == n * (n - 1) / 2}};
  // Subtract the counting itself: a call of the other place and its answer, for which the finish
  // protocol sends nothing.
  const std::uint64_t counting = apgas::num_places() == 1 ? 0 : 2;
  result.frames = after.frames - before.frames - counting;
  result.messages = after.messages - before.messages - counting;
  result.finish_messages = after.of_finish - before.of_finish;
  return result;
}

double idle_share(double seconds, bool one_process) {
  const auto nap = std::chrono::duration<double>(seconds);
  const double before = process_cpu_seconds();
  const auto begin = clock::now();
  const double there = apgas::at(
      other_place(),
      [](std::chrono::duration<double> length) {
        const double cpu = process_cpu_seconds();
        const auto start = clock::now();
        apgas::sleep_for(length);
        return (process_cpu_seconds() - cpu) / seconds_since(start);
      },
      nap);
  const double ours = (process_cpu_seconds() - before) / seconds_since(begin);
  return one_process ? ours / apgas::num_places() : std::max(ours, there);
}

}  // namespace bench
