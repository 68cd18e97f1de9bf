// SPDX-License-Identifier: Apache-2.0
// The counters of finish and join, where a task is counted only when it leaves its frame. The
// scenarios are a finish whose stolen task spawns another one, and a fork_join one of whose
// branches may leave a task above the slot of the other. Checked properties: waiting ends exactly
// once, not before all tasks have ended, and then sees their writes; and the thread that releases
// the last count sees the waiter. See docs/protocols/steal.md.
#include <utility>

// clang-format off: worker_model.hpp comes before every header of the product
#include "worker_model.hpp"
#include "counting_mutants.hpp"
#include "join_mutants.hpp"
// clang-format on

namespace apgas::model {

constexpr const char* scenarios[] = {"a stolen task that spawns", "a join",
                                     "a join below an escaped task", "thieves that only ask"};
constexpr int scenario_count = 4;
bool waiter_comes_late = false;  // for a mutant: the owner sets the waiter after its release

template <class Counter, template <class> class Deque>
struct join_suite : rl::test_suite<join_suite<Counter, Deque>, 3> {
  using slot = basic_slot<Counter>;
  static inline int scenario = 0;

  Deque<slot> deques[2];
  slot slots[2][12];
  Counter finish, join;
  rl::var<int> data[2];
  rl::var<int> context_saved;
  int spawned = 0;
  int ran[2] = {};
  int joined = 0;
  int ended = 0;

  using fiber_pointer = decltype(std::declval<Counter&>().waiter());
  fiber_pointer waiter() { return reinterpret_cast<fiber_pointer>(this); }

  void before() {
    for (int i = 0; i < 2; ++i) {
      deques[i].reset(slots[i], 12, false);
      data[i]($) = 0;
    }
    context_saved($) = 0;
  }
  void thread(unsigned index) {
    if (index == 0) {
      scenario == 0 ? finish_body() : fork_body();
      loop();
    } else {
      steal(index, scenario == 0 && index == 2 ? 1 : 0);
    }
  }
  void after() {
    loop();
    for (int i = 0; i < spawned; ++i) RL_ASSERT(ran[i] == 1);
    RL_ASSERT(ended == 1 && joined == (scenario == 0 ? 0 : 1));
    RL_ASSERT(finish.count() == 0 || finish.alone());
  }

  void spawn(int worker, int id, Counter& counter, kind what) {
    slot* s = deques[worker].head();
    s->write(id, &counter, what);
    ++spawned;
    if (deques[worker].push(s)) {
      deques[worker].answer();
      static_cast<void>(deques[worker].attend(s + 1));
    }
  }
  void run(int worker, int id) {
    ++ran[id];
    data[id]($) = 1;
    if (scenario == 0 && id == 0) spawn(worker, 1, finish, kind::task);
  }
  void run_children(int worker, slot* base) {
    while (deques[worker].head() - 1 >= base) {
      slot* s = deques[worker].head() - 1;
      if (deques[worker].pop(s)) run(worker, s->number());
    }
  }

  void finish_body() {
    slot* base = deques[0].head();
    spawn(0, 0, finish, kind::task);
    run_children(0, base);
    wait_for(finish);
  }

  // As fork_two and take_back_or_wait of sync (branch.hpp).
  void fork_body() {
    slot* base = deques[0].head();
    spawn(0, 0, join, kind::join);
    slot* const s = deques[0].head() - 1;
    if (scenario >= 2) spawn(0, 1, finish, kind::task);
    if (join.untouched()) {
      slot* top = deques[0].head() - 1;
      if (top->what == kind::join && top->counter == &join && deques[0].pop(top)) {
        return after_own_branch(base);
      }
    }
    if (join.untouched()) {
      slot* top = deques[0].head() - 1;
      RL_ASSERT(s <= top);  // the slot is still in this deque
      if (s == top ? deques[0].pop(s) : deques[0].extract(s)) return after_own_branch(base);
    }
    if (wait_for(join)) {
      run_children(0, base);
      wait_for(finish);
    }
  }
  void after_own_branch(slot* base) {
    run(0, 0);
    over(join);
    run_children(0, base);
    wait_for(finish);
  }

  // As wait_for_others: the thread that releases the last count continues in place of the owner.
  // Returns whether the owner need not wait.
  bool wait_for(Counter& counter) {
    if (counter.alone()) {
      over(counter);
      return true;
    }
    deques[0].publish();
    context_saved($) = &counter == &join ? 1 : 2;
    if (!waiter_comes_late) counter.set_waiter(waiter());
    complete(counter);
    if (waiter_comes_late) counter.set_waiter(waiter());
    return false;
  }
  void complete(Counter& counter) {
    if (!counter.release()) return;
    RL_ASSERT(counter.waiter() == waiter());
    RL_ASSERT(context_saved($) == (&counter == &join ? 1 : 2));
    over(counter);
    if (&counter == &join) wait_for(finish);
  }
  void over(Counter& counter) {
    if (&counter == &join) {
      RL_ASSERT(++joined == 1);
      RL_ASSERT(data[0]($) == 1);
    } else {
      RL_ASSERT(++ended == 1);
      for (int i = 0; i < spawned; ++i) RL_ASSERT(data[i]($) == 1);
    }
  }

  // Thread 1 has a deque of its own, from which thread 2 steals.
  void steal(unsigned thief, int victim) {
    slot s[1];
    if (model::steal(deques[victim], s, 1, scenario == 3 ? manner::ask : manner::insist) == 0)
      return;
    if (scenario == 0 && thief == 1) {
      slot* base = deques[1].head();
      run(1, s[0].number());
      run_children(1, base);
    } else {
      run(1, s[0].number());
    }
    complete(*s[0].counter);
  }
  void loop() {
    slot s;
    while (deques[0].take_newest(s)) {
      run(0, s.number());
      complete(*s.counter);
    }
  }
};

}  // namespace apgas::model

int main() {
  using namespace apgas::model;
  namespace product = apgas::scheduler;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using as_written = join_suite<product::task_counter, product::deque>;
  bool right = true;
  for (int number = 0; number < scenario_count; ++number) {
    right &= holds<as_written>(scenarios[number], number, number >= 2 ? 1 : 2);
  }
  waiter_comes_late = true;
  right &= refuted<as_written>("waiter_comes_late", scenario_count, 1);
  waiter_comes_late = false;
#define REFUTE(name) \
  right &=           \
      refuted<join_suite<product::name::task_counter, product::deque>>(#name, scenario_count, 1);
  JOIN_MUTANTS(REFUTE)
#define REFUTE_DEQUE(name) \
  right &=                 \
      refuted<join_suite<product::task_counter, product::name::deque>>(#name, scenario_count, 1);
  COUNTING_MUTANTS(REFUTE_DEQUE)
  return right ? 0 : 1;
}
