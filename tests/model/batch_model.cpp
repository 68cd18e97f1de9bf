// SPDX-License-Identifier: Apache-2.0
// The deque as a batch. As in begin_batch and next_of_batch, its owner adopts one array after the
// other and takes the tasks from the top, while one or two thieves steal. Checked properties: every
// task leaves exactly once; the thread that takes it sees everything that was written before its
// array was adopted; and the memory of an array may be written again as soon as the next one is
// adopted. See docs/protocols/steal.md.
#include <iterator>
#include <utility>

// clang-format off: worker_model.hpp comes before every header of the product
#include "worker_model.hpp"
// clang-format on

// For a mutant: a lock that excludes other threads, but publishes nothing.
namespace apgas::inline v0::scheduler {
class relaxed_lock {
 public:
  void lock() {
    while (!try_lock()) base::spin_wait().once();
  }
  bool try_lock() { return !held_.exchange(true, base::relaxed); }
  void unlock() { held_.store(false, base::relaxed); }

 private:
  base::atomic<bool> held_{false};
};
}  // namespace apgas::inline v0::scheduler

#include "batch_mutants.hpp"

namespace apgas::model {

struct batch_scenario {
  const char* name;
  unsigned thieves;
  std::size_t most;  // the number of tasks that the first thief asks for
  bool fenced;
  int sizes[3];  // of the arrays, one after the other
  unsigned preemptions;
  manner how = manner::insist;
};
constexpr batch_scenario scenarios[] = {
    {"nobody else", 0, 0, false, {3, 2, 1}, 1},
    {"one array", 1, 3, false, {3, 0, 0}, 2},
    {"three arrays", 1, 1, false, {3, 2, 1}, 1},
    {"three small arrays", 1, 3, false, {1, 2, 1}, 2},
    {"one array, fenced", 1, 3, true, {3, 0, 0}, 1},
    {"three arrays, fenced", 1, 3, true, {1, 2, 1}, 1},
    {"three arrays, asking", 1, 3, false, {3, 2, 1}, 1, manner::ask},
    {"two thieves, one array", 2, 3, false, {3, 0, 0}, 1},
    {"two thieves, three arrays", 2, 3, false, {1, 1, 1}, 1},
    {"two thieves, fenced", 2, 3, true, {1, 1, 0}, 1},
    {"two thieves, asking", 2, 3, false, {2, 1, 0}, 1, manner::ask},
};
constexpr int scenario_count = static_cast<int>(std::size(scenarios));
constexpr int mutant_scenarios = 7;

// For a mutant: the owner writes the memory of an array again before it has adopted the next one.
bool reused_too_early = false;

struct entry {
  rl::var<int> id;
  int* counted = nullptr;

  int number() const { return const_cast<entry*>(this)->id($); }
  void write(int number, int* counter) {
    id($) = number;
    counted = counter;
  }
  void add(std::ptrdiff_t n) {
    RL_ASSERT(counted != nullptr);
    *counted += static_cast<int>(n);
  }
  bool same_counter(const entry& other) const { return counted == other.counted; }
  void assign(const entry& other) { write(other.number(), other.counted); }
};

template <template <class> class Deque>
struct batch_suite : rl::test_suite<batch_suite<Deque>, 3> {
  static inline int scenario = 0;
  static constexpr int tasks_max = 6;
  static constexpr std::size_t room = 3;

  Deque<entry> deque;
  entry slots[3 * room];
  entry* array = nullptr;  // the array that the deque has adopted
  rl::var<int> data[tasks_max];
  int counted[tasks_max] = {};
  int ran[tasks_max] = {};
  int written = 0;

  static const batch_scenario& now() { return scenarios[scenario]; }

  void before() {
    scheduler::asymmetric = !now().fenced;
    deque.reset(slots + room, room, now().fenced);
  }
  void thread(unsigned index) {
    if (index == 0) {
      own();
    } else if (index <= now().thieves) {
      steal(index == 1 ? now().most : 1);
    }
  }
  void after() {
    for (int i = 0; i < written; ++i) RL_ASSERT(ran[i] == 1);
  }

  // The first array lies above the one that the deque began with, the second below it.
  void own() {
    entry* at = slots + 2 * room;
    entry* other = slots;
    fill(at, now().sizes[0]);
    for (int i = 0; i < 3 && now().sizes[i] != 0; ++i) {
      const int next = i < 2 ? now().sizes[i + 1] : 0;
      if (reused_too_early) fill(other, next);
      begin(at, static_cast<std::size_t>(now().sizes[i]));
      if (!reused_too_early) fill(other, next);
      drain();
      std::swap(at, other);
    }
  }
  void fill(entry* at, int n) {
    for (int i = 0; i < n; ++i, ++written) {
      data[written]($) = 1;
      at[i].write(written, &counted[written]);
    }
  }
  void begin(entry* at, std::size_t n) {
    RL_ASSERT(deque.empty());
    deque.adopt(at, n);
    array = at;
  }
  void drain() {
    entry e;
    while (take(e)) run(e.number(), 0);
  }
  bool take(entry& e) {
    if (deque.take_top_fast(e)) return true;
    const bool found = deque.take_top(e);
    if (now().thieves == 0) RL_ASSERT(!found);  // without thieves take_top_fast() suffices
    RL_ASSERT(deque.head() >= array);
    return found;
  }

  void steal(std::size_t most) {
    entry stolen[room];
    const std::size_t n = model::steal(deque, stolen, most, now().how);
    RL_ASSERT(n <= most && n <= (room + 1) / 2);
    for (std::size_t i = 0; i < n; ++i) run(stolen[i].number(), 1);
  }
  void run(int id, int count) {
    ++ran[id];
    RL_ASSERT(ran[id] == 1);
    RL_ASSERT(counted[id] == count);
    RL_ASSERT(data[id]($) == 1);
  }
};

}  // namespace apgas::model

int main() {
  using namespace apgas::model;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using as_written = batch_suite<apgas::scheduler::deque>;
  bool right = true;
  for (int number = 0; number < scenario_count; ++number) {
    right &= holds<as_written>(scenarios[number].name, number, scenarios[number].preemptions);
  }
  reused_too_early = true;
  right &= refuted<as_written>("reused_too_early", mutant_scenarios, 1);
  reused_too_early = false;
#define REFUTE(name) \
  right &= refuted<batch_suite<apgas::scheduler::name::deque>>(#name, mutant_scenarios, 1);
  BATCH_MUTANTS(REFUTE)
  return right ? 0 : 1;
}
