// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <thread>

#include <apgas/apgas.hpp>

// The operations within a place whose instructions and cache lines are counted, as loops. All run
// on one worker, so that each loop always executes the same instructions, except that the worker
// looks for other work now and then. `laps` has two functions: lap() ends an operation and begins
// the next; over() says whether enough have been counted.
namespace operations {

struct operation {
  const char* name;
  // The instructions that the operation may take, on average. g++ 12.2 -O3 needs 88 to 95
  // hundredths of them; what switches tasks varies most, by how often the worker looks elsewhere.
  std::uint64_t instructions;
  std::uint64_t
      locked;  // instructions that lock the bus or are full fences; at most three too many
};

template <class Laps>
struct measured {
  operation what;
  void (*loop)(Laps& laps);
};

template <class Laps, class F>
void repeat(Laps& laps, F f) {
  while (!laps.over()) {
    laps.lap();
    f();
  }
}

// The phases of tasks in lock-step. A lap begins when the first task goes on in a phase. Any given
// task goes on sooner in some phases than in others, so its laps would not all be whole phases.
template <class Laps>
class phases {
 public:
  explicit phases(Laps& laps) : laps_(&laps) {}

  // What each task does.
  template <class Advance>
  void run(Advance advance) {
    for (long phase = 1; !over_; ++phase) {
      advance();
      if (phase != begun_) begin(phase);
    }
  }

 private:
  void begin(long phase) {
    begun_ = phase;
    over_ = laps_->over();
    if (!over_) laps_->lap();
  }

  Laps* laps_;
  long begun_ = 0;
  bool over_ = false;
};

template <class Laps, class Advance>
void clock_phases(Laps& laps, int tasks, Advance) {
  phases<Laps> all(laps);
  apgas::finish([&] {
    const auto c = apgas::clock::make();
    for (int i = 0; i < tasks; ++i) {
      apgas::async(apgas::clocked(c), [&all, c] { all.run([&c] { Advance()(c); }); });
    }
    c.drop();
  });
}

inline constexpr auto lazily = [](const apgas::clock& c) { c.advance(); };
inline constexpr auto eagerly = [](const apgas::clock& c) { c.advance_eager(); };

// `make_advance(p)` returns what each task does in a phase of the phaser p.
template <class Laps, class MakeAdvance>
void phaser_phases(Laps& laps, int tasks, MakeAdvance make_advance) {
  phases<Laps> all(laps);
  apgas::finish([&] {
    const auto mode = apgas::phaser_mode::signal_wait;
    const apgas::phaser p(mode);
    const auto advance = make_advance(p);
    for (int i = 0; i < tasks; ++i) {
      apgas::async(apgas::phased(p, mode), [&all, advance] { all.run(advance); });
    }
    p.drop();
  });
}

inline constexpr auto alone = [](const apgas::phaser& p) { return [p] { p.next(); }; };
inline constexpr auto with_a_sum = [](const apgas::phaser& p) {
  return [p, sum = apgas::accumulator<long>(p)] {
    sum.send(1);
    p.next();
    sum.result();
  };
};

// A critical section beside tasks that wait at the same monitor.
template <class Laps>
void beside_waiting(Laps& laps, int tasks) {
  apgas::monitor m;
  bool go_on = false;
  int came = 0;
  int sum = 0;
  apgas::finish([&] {
    for (int i = 0; i < tasks; ++i) {
      apgas::async([&] {
        ++came;
        m.when([&go_on] { return go_on; }, [] {});
      });
    }
    while (came < tasks) apgas::yield();
    repeat(laps, [&] { m.atomic([&sum] { ++sum; }); });
    m.atomic([&go_on] { go_on = true; });
  });
}

template <class Laps>
void beside_watching(Laps& laps, int tasks) {
  apgas::monitor m;
  std::deque<apgas::watched<bool>> go_on;
  for (int i = 0; i < tasks; ++i) go_on.emplace_back(m, false);
  apgas::watched<int> sum(m, 0);
  int came = 0;
  apgas::finish([&] {
    for (auto& mine : go_on) {
      apgas::async([&] {
        ++came;
        m.when(apgas::watching(mine), [&mine] { return mine.get(); }, [] {});
      });
    }
    while (came < tasks) apgas::yield();
    repeat(laps, [&] { m.atomic([&sum] { sum.set(sum.get() + 1); }); });
    m.atomic([&go_on] {
      for (auto& each : go_on) each.set(true);
    });
  });
}

inline apgas::task<int> number() { co_return 1; }

template <class Laps>
apgas::task<> coroutine_calls(Laps& laps) {
  int sum = 0;
  while (!laps.over()) {
    laps.lap();
    sum += co_await number();
  }
}

inline constexpr int two_tasks = 2;
inline constexpr int few_tasks = 8;
inline constexpr int many_tasks = 128;
inline constexpr int most_tasks = 512;
inline constexpr int waiting_tasks = 1'000;

template <class Laps>
constexpr measured<Laps> all[] = {
    {{"`fork_join` of two empty branches", 60, 0},
     [](Laps& laps) { repeat(laps, [] { apgas::fork_join([] {}, [] {}); }); }},
    {{"`finish` over one empty `async`", 124, 0},
     [](Laps& laps) { repeat(laps, [] { apgas::finish([] { apgas::async([] {}); }); }); }},
    {{"`async` in a loop that only spawns, spawn and run", 59, 1},
     [](Laps& laps) { apgas::finish([&] { repeat(laps, [] { apgas::async([] {}); }); }); }},
    {{"`yield` of two tasks in turn, both", 620, 5},
     [](Laps& laps) {
       bool over = false;
       apgas::finish([&] {
         apgas::async([&over] {
           while (!over) apgas::yield();
         });
         repeat(laps, [] { apgas::yield(); });
         over = true;
       });
     }},
    {{"`async_future` and `get`, not ready", 1'380, 13},
     [](Laps& laps) { repeat(laps, [] { apgas::async_future([] { return 1; }).get(); }); }},
    {{"8 tasks that `get` a future which is not ready, with its promise and their `finish`", 5'400,
      41},
     [](Laps& laps) {
       repeat(laps, [] {
         const apgas::promise<int> gate;
         const apgas::future<int> open = gate.get_future();
         apgas::finish([&] {
           apgas::async([&gate] { gate.set_value(1); });
           for (int i = 0; i < few_tasks; ++i) apgas::async([&open] { open.get(); });
         });
       });
     }},
    {{"call of a coroutine, with its `co_await`", 288, 0},
     [](Laps& laps) { apgas::finish([&] { apgas::async(coroutine_calls(laps)); }); }},
    {{"`monitor::atomic`, uncontended", 41, 2},
     [](Laps& laps) {
       apgas::monitor m;
       int sum = 0;
       repeat(laps, [&] { m.atomic([&sum] { ++sum; }); });
     }},
    {{"`monitor::when` with a true condition", 60, 2},
     [](Laps& laps) {
       apgas::monitor m;
       int sum = 0;
       repeat(laps, [&] { m.when([] { return true; }, [&sum] { ++sum; }); });
     }},
    {{"`monitor::atomic` beside 1,000 tasks that wait there with `when`", 46'000, 2},
     [](Laps& laps) { beside_waiting(laps, waiting_tasks); }},
    {{"the same beside 1,000 tasks that watch other cells", 80, 2},
     [](Laps& laps) { beside_watching(laps, waiting_tasks); }},
    {{"`mutex`, locked and unlocked", 55, 2},
     [](Laps& laps) {
       apgas::mutex m;
       repeat(laps, [&m] {
         m.lock();
         m.unlock();
       });
     }},
    {{"`sync_var`, `write_ef` and `read_fe` without waiting", 221, 4},
     [](Laps& laps) {
       apgas::sync_var<int> v;
       repeat(laps, [&v] {
         v.write_ef(1);
         v.read_fe();
       });
     }},
    {{"`sync_var` handed to another task and one back", 1'230, 14},
     [](Laps& laps) {
       apgas::sync_var<int> there;
       apgas::sync_var<int> back;
       apgas::finish([&] {
         apgas::async([&] {
           while (there.read_fe() != 0) back.write_ef(1);
         });
         repeat(laps, [&] {
           there.write_ef(1);
           back.read_fe();
         });
         there.write_ef(0);
       });
     }},
    {{"`clocked_async` of a task that advances once, and the advance of its parent", 2'600, 11},
     [](Laps& laps) {
       apgas::clocked_finish([&] {
         repeat(laps, [] {
           apgas::clocked_async([] { apgas::clock::advance_all(); });
           apgas::clock::advance_all();
         });
       });
     }},
    {{"phase of a clock with 2 tasks", 1'130, 4},
     [](Laps& laps) { clock_phases(laps, two_tasks, lazily); }},
    {{"phase of a clock with 8 tasks", 2'060, 4},
     [](Laps& laps) { clock_phases(laps, few_tasks, lazily); }},
    {{"phase of a clock with 128 tasks", 23'000, 9},
     [](Laps& laps) { clock_phases(laps, many_tasks, lazily); }},
    {{"the same with `advance_eager`", 25'500, 10},
     [](Laps& laps) { clock_phases(laps, many_tasks, eagerly); }},
    {{"phase of a clock with 512 tasks", 88'000, 23},
     [](Laps& laps) { clock_phases(laps, most_tasks, lazily); }},
    {{"phase of a phaser with 8 tasks", 2'060, 4},
     [](Laps& laps) { phaser_phases(laps, few_tasks, alone); }},
    {{"the same with a sum of all", 3'600, 11},
     [](Laps& laps) { phaser_phases(laps, few_tasks, with_a_sum); }},
};

}  // namespace operations
