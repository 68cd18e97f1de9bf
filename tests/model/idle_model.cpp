// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking. A producer makes a task for each of one or two workers and is busy
// afterwards, or there are tasks for three workers; each worker takes one task and is busy then. No
// worker may sleep while a task waits. As sleeping has no time-out, a lost wake-up is a deadlock,
// which Relacy detects. The search and sleep of the workers are transcribed from
// scheduler/loop/src/loop.cpp and idle.cpp. In some scenarios searches count late: after one round
// in vain, where the product has 32. See docs/protocols/idle.md.
#include <ctime>
#include <utility>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

// clang-format off: worker_model.hpp comes before every header of the product
#include "worker_model.hpp"
// clang-format on

// The parker uses the futex of Relacy, without spurious wake-ups, since each of them would double
// the number of schedules.
namespace apgas::inline v0::scheduler {
inline long syscall(long, std::uint32_t* word, int operation, std::uint32_t expected,
                    const timespec*, void*, int) {
  auto* futex = reinterpret_cast<rl::atomic<std::uint32_t>*>(word);
  rl::context& c = rl::ctx();
  c.sched();
  c.atomic_thread_fence_seq_cst();
  if (operation == FUTEX_WAKE_PRIVATE) return futex->wake(c, 1, $);
  std::uint32_t value = 0;
  {
    rl::preemption_disabler atomically(c);
    value = futex->load(rl::mo_acquire, $);
  }
  if (value == expected) futex->wait(c, false, false, $);
  return 0;
}
}  // namespace apgas::inline v0::scheduler

#include "attention_mutants.hpp"
#include "emptiness_mutants.hpp"
#include "idle.hpp"
#include "idle_mutants.hpp"
#include "parker.hpp"
#include "parker_mutants.hpp"
#include "tree_mutants.hpp"

namespace apgas::model {

enum class mistake {
  none,
  no_heavy_fence,
  attention_after_check,
  check_before_announcing,
  // Only searches that count late can make these.
  late_thief_notifies_nobody,
  late_thief_notifies_early,  // before the tasks are in its own deque
  late_search_never_counts,
  late_search_ends_as_counted,
  counted_search_ends_as_late,
};

constexpr const char* scenarios[] = {"spawned tasks",         "external tasks",
                                     "spawned tasks, fenced", "one spawned, one external",
                                     "one worker, one task",  "a worker that asks first",
                                     "a task that is moved",  "a worker that wakes two",
                                     "a late thief",          "late searches"};
constexpr int scenario_count = 10;
constexpr int first_late = 8;  // from this scenario on, searches count late
constexpr unsigned preemptions[] = {1, 1, 1, 1, 3, 2, 2, 1, 2, 1};
mistake made = mistake::none;

template <class Parker>
struct entry {
  entry* next = nullptr;
  entry* previous = nullptr;
  bool listed = false;
  Parker sleep;
};

template <template <class> class Deque, template <class> class Idle, class Parker>
struct idle_suite : rl::test_suite<idle_suite<Deque, Idle, Parker>, 3> {
  using slot = basic_slot<scheduler::task_counter>;
  static inline int scenario = 0;

  Deque<slot> deque;  // the producer's
  slot slots[8];
  Deque<slot> thief_deque;  // that of worker 0, if it is a late thief
  slot thief_slots[4];
  slot stolen[2];
  scheduler::task_counter finish;
  // The external tasks: their number, under a lock, and the flag of external_queue.hpp.
  base::spin_lock external_queue_lock;
  int external_task = 0;
  base::atomic<bool> filled{false};

  Idle<entry<Parker>> idle;
  entry<Parker> entries[3];
  rl::var<int> woken_for[3];  // written by the thread that wakes the worker
  int consumed = 0;
  std::uint64_t now = 0;  // the clock of the thieves

  bool fenced() const { return scenario == 2; }
  bool moves() const { return scenario == 6; }
  bool wakes_two() const { return scenario == 7; }
  bool counts_late() const { return scenario >= first_late; }
  bool late_thief() const { return scenario == 8; }
  // Also the number of tasks. With three workers the tasks are there at the start.
  int workers() const { return wakes_two() ? 3 : scenario >= 4 && !counts_late() ? 1 : 2; }

  void before() {
    scheduler::asymmetric = !fenced();
    deque.reset(slots, moves() ? 4 : 8, fenced());
    for (auto& w : woken_for) w($) = 0;
    if (!counts_late()) {  // workers start as searching
      for (int i = 0; i < workers(); ++i) idle.begin_search();
    }
    if (moves()) leave_one_task_above_room();
    if (wakes_two()) leave_two_sleepers();
    if (late_thief()) leave_a_hidden_task();
  }
  void thread(unsigned index) {
    if (static_cast<int>(index) < workers()) {
      work(static_cast<int>(index));
    } else if (index == 2 && !late_thief()) {
      produce();
    }
  }
  void after() { RL_ASSERT(consumed == workers()); }

  // Two tasks of three have been taken at the tail, so that make_room() moves the third one.
  void leave_one_task_above_room() {
    leave_three_tasks();
    RL_ASSERT(deque.steal(stolen, 2, {1, 0}).tasks == 2);
  }

  // Worker 0 has just stolen two tasks of three, and their owner has taken back the third one.
  // Until the second of the two is in the deque of the thief, it is in no queue.
  void leave_a_hidden_task() {
    leave_one_task_above_room();
    slot third;
    RL_ASSERT(deque.take_newest(third));
    thief_deque.reset(thief_slots, 4, false);
  }

  // There are three tasks, for which worker 0 was woken. Worker 1 has announced its sleep and makes
  // its final check; worker 2 has made it before the tasks were there.
  void leave_two_sleepers() {
    leave_three_tasks();
    for (int i = 2; i > 0; --i) static_cast<void>(idle.announce_sleep(&entries[i]));
  }
  void leave_three_tasks() {
    for (int i = 0; i < 3; ++i) {
      slot* s = deque.head();
      s->write(0, &finish);
      static_cast<void>(deque.push(s));
    }
    deque.publish();
  }

  void produce() {
    if (moves()) {
      static_cast<void>(deque.make_room());
    } else if (scenario == 1) {
      submit();
      submit();
    } else {
      spawn();
      if (scenario == 3) {
        submit();
      } else if (workers() == 2) {
        spawn();
      }
    }
  }
  void spawn() {
    slot* s = deque.head();
    s->write(0, &finish);
    if (deque.push(s) && deque.attend(slots + 7)) notify();
  }
  void submit() {
    external_queue_lock.lock();
    ++external_task;
    filled.store(true, base::relaxed);
    external_queue_lock.unlock();
    notify();
  }
  void notify() {
    if (fenced()) base::full_fence();
    if (idle.wanted()) wake(idle.take_sleeper());
  }
  void wake(entry<Parker>* s) {
    if (s == nullptr) return;
    woken_for[s - entries]($) = 1;
    s->sleep.unpark();
  }

  void work(int id) {
    bool woken = wakes_two() && (id == 0 || wait(id, id == 1));
    bool stole = false;
    bool counts = !counts_late();
    while (!take_external() && !(stole = steal(id))) {
      if (std::exchange(counts, true)) {
        woken = sleep(id);
      } else if (made != mistake::late_search_never_counts) {
        idle.begin_search();
      }
    }
    ++consumed;
    end_search(counts, woken, stole);
  }
  void end_search(bool counts, bool woken, bool stole) {
    if (made == mistake::late_search_ends_as_counted) counts = true;
    if (made == mistake::counted_search_ends_as_late) counts = false;
    if (counts) {
      for (entry<Parker>* s : idle.end_search(woken && stole)) wake(s);
    } else if (stole && made != mistake::late_thief_notifies_nobody &&
               made != mistake::late_thief_notifies_early) {
      notify();
    }
  }
  bool take_external() {
    if (filled.load(base::relaxed)) {
      external_queue_lock.lock();
      const bool any = external_task > 0;
      if (any) --external_task;
      filled.store(external_task > 0, base::relaxed);
      external_queue_lock.unlock();
      return any;
    }
    return false;
  }
  bool steal(int id) {
    if (!late_thief()) return steal_one(deque);
    return id == 0 ? end_steal() : steal_one(deque) || steal_one(thief_deque);
  }
  bool steal_one(Deque<slot>& from) {
    slot s[1];
    // A thief that asks insists after it has searched a few times more.
    if (scenario == 5) return from.steal(s, 1, {++now, 1}).tasks == 1;
    return from.steal(s, 1, {1, 0}).tasks == 1;
  }
  // The rest of the steal of worker 0.
  bool end_steal() {
    if (made == mistake::late_thief_notifies_early) notify();
    thief_deque.push_counted(stolen + 1, 1);
    return true;
  }
  bool anything_to_do() {
    return filled.load(base::relaxed) || !deque.empty() || (late_thief() && !thief_deque.empty());
  }

  // Returns whether another thread has woken the worker.
  bool sleep(int id) {
    bool found = false;
    if (made == mistake::check_before_announcing) found = anything_to_do();
    static_cast<void>(idle.announce_sleep(&entries[id]));
    if (made != mistake::attention_after_check) deque.raise_attention();
    if (made != mistake::no_heavy_fence) base::heavy_fence();
    if (made != mistake::check_before_announcing) found = anything_to_do();
    if (made == mistake::attention_after_check) deque.raise_attention();
    return wait(id, found);
  }
  // The rest of it, after the final check has found a task or not.
  bool wait(int id, bool found) {
    if (found && idle.cancel_sleep(&entries[id])) {
      RL_ASSERT(woken_for[id]($) == 0);  // no thread has woken it or will
      rl::yield(1, $);
      return false;
    }
    static_cast<void>(entries[id].sleep.park(std::chrono::nanoseconds::max()));
    RL_ASSERT(woken_for[id]($) == 1);
    woken_for[id]($) = 0;
    return true;
  }
};

// As refuted(), but explores only the scenarios in which searches count late.
template <class Suite>
bool refuted_late(mistake m, const char* name) {
  made = m;
  unsigned long total = 0;
  for (Suite::scenario = first_late; Suite::scenario < scenario_count; ++Suite::scenario) {
    const outcome o = explore<Suite>(1, true);
    total += o.interleavings;
    if (o.holds) continue;
    std::printf("mutant %-32s refuted by scenario %d after %lu interleavings\n", name,
                Suite::scenario, total);
    return true;
  }
  std::printf("mutant %-32s SURVIVES %lu interleavings\n", name, total);
  return false;
}

}  // namespace apgas::model

int main() {
  using namespace apgas::model;
  namespace product = apgas::scheduler;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using as_written = idle_suite<product::deque, product::idle_list, product::parker>;
  bool right = true;
  for (int number = 0; number < scenario_count; ++number) {
    right &= holds<as_written>(scenarios[number], number, preemptions[number]);
  }
  made = mistake::no_heavy_fence;
  right &= refuted<as_written>("no_heavy_fence", scenario_count, 1);
  made = mistake::attention_after_check;
  right &= refuted<as_written>("attention_after_check", scenario_count, 1);
  made = mistake::check_before_announcing;
  right &= refuted<as_written>("check_before_announcing", scenario_count, 1);
#define REFUTE_LATE(name) right &= refuted_late<as_written>(mistake::name, #name)
  REFUTE_LATE(late_thief_notifies_nobody);
  REFUTE_LATE(late_thief_notifies_early);
  REFUTE_LATE(late_search_never_counts);
  REFUTE_LATE(late_search_ends_as_counted);
  REFUTE_LATE(counted_search_ends_as_late);
  made = mistake::none;
#define REFUTE_IDLE(name)                                                                  \
  right &= refuted<idle_suite<product::deque, product::name::idle_list, product::parker>>( \
      #name, scenario_count, 1);
  IDLE_MUTANTS(REFUTE_IDLE)
#define REFUTE_ATTENTION(name)                                                             \
  right &= refuted<idle_suite<product::name::deque, product::idle_list, product::parker>>( \
      #name, scenario_count, 1);
  ATTENTION_MUTANTS(REFUTE_ATTENTION)
#define REFUTE_EMPTINESS(name)                                                             \
  right &= refuted<idle_suite<product::name::deque, product::idle_list, product::parker>>( \
      #name, scenario_count, 1);
  EMPTINESS_MUTANTS(REFUTE_EMPTINESS)
#define REFUTE_TREE(name)                                                                  \
  right &= refuted<idle_suite<product::deque, product::name::idle_list, product::parker>>( \
      #name, scenario_count, 1);
  TREE_MUTANTS(REFUTE_TREE)
#define REFUTE_PARKER(name)                                                                \
  right &= refuted<idle_suite<product::deque, product::idle_list, product::name::parker>>( \
      #name, scenario_count, 1);
  PARKER_MUTANTS(REFUTE_PARKER)
  return right ? 0 : 1;
}
