// SPDX-License-Identifier: Apache-2.0
// One owner and two thieves on the deque. Checked properties: every task leaves exactly once; the
// thread that learns of its end sees its writes; and exactly the tasks that left their frame were
// counted. See docs/protocols/steal.md.
// clang-format off: worker_model.hpp comes before every header of the product
#include "worker_model.hpp"
#include "deque_mutants.hpp"
// clang-format on

#include <cstring>

namespace apgas::model {

constexpr const char* scenarios[] = {"a slot used again",  "nested frames",
                                     "a suspended frame",  "an escaped task",
                                     "counted tasks",      "fenced",
                                     "after a lost pop",   "an answer",
                                     "an answer to a pop", "granted in advance",
                                     "two granted tasks",  "a larger array",
                                     "after a slow pop",   "after take_newest",
                                     "granted unasked",    "the same, fenced",
                                     "observed",           "observed later",
                                     "a refused pop",      "a refused pop, fenced"};
constexpr int scenario_count = 20;
constexpr int refused = 18;  // from this scenario on, a third thread refuses a pop of the owner

unsigned thieves = 2;

template <template <class> class Deque>
struct deque_suite : rl::test_suite<deque_suite<Deque>, 3>,
                     worker_model<Deque, scheduler::task_counter> {
  static inline int scenario = 0;
  using base_slot = typename deque_suite::slot;

  void before() { this->start(scenario == 5 || scenario == 15 || scenario == 19); }
  void thread(unsigned index) {
    if (index == 2 && scenario >= refused) return this->deque.refuse_pop();
    if (index != 0) {
      if (index > thieves) return;
      if (scenario == 9 || scenario == 10) return come_once();
      const bool asks =
          index == 1 && (scenario == 7 || scenario == 8 || scenario == 14 || scenario == 16);
      this->thief(asks ? manner::ask_first : manner::insist);
      return;
    }
    switch (scenario) {
      case 0:
        return again();
      case 1:
        return nested();
      case 2:
        return suspended();
      case 3:
        return escaped();
      case 4:
        return counted();
      case 6:
        return lost();
      case 7:
        return again();
      case 8:
      case 18:
      case 19:
        return nested();
      case 10:
        return granted();
      case 11:
        return moved();
      case 9:
        return in_advance();
      case 12:
        return taken_back();
      case 13:
        return taken_by_the_loop();
      case 14:
      case 15:
        return unasked();
      case 16:
        return observed();
      case 17:
        return observed_later();
      default:
        return again();
    }
  }
  void after() {
    this->run_the_rest();
    this->check_end();
  }

  // A finish with two tasks, which its frame takes back.
  void nested() {
    base_slot* base = this->deque.head();
    this->spawn(0);
    this->spawn(1);
    this->run_children(base);
    this->wait();
  }

  // A slot of the array is used again while a thief is looking at it.
  void again() {
    base_slot* base = this->deque.head();
    this->spawn(0);
    this->run_children(base);
    this->spawn(1);
    this->run_children(base);
    this->wait();
  }

  // A thief has asked while there was one task. The owner takes it back and grants the next one,
  // which other threads may take.
  void in_advance() {
    base_slot* base = this->deque.head();
    this->spawn(0);
    base_slot stolen[1];  // stands for that thief, to which another one may have helped
    if (this->deque.steal(stolen, 1, {1, 10}).tasks != 0) this->run_counted(stolen[0]);
    this->run_children(base);
    this->spawn(1);
    this->run_children(base);
    this->wait();
  }
  // The owner grants two of three tasks, and takes them back.
  void granted() {
    base_slot* base = this->deque.head();
    this->spawn(0);
    this->spawn(1);
    base_slot stolen[1];
    if (this->deque.steal(stolen, 1, {1, 10}).tasks != 0) this->run_counted(stolen[0]);
    this->spawn(2);
    this->run_children(base);
    this->wait();
  }
  // Every push is observed, also into a slot that is used again. A thief may take the first task
  // before the owner has noticed.
  void observed() {
    this->observe(1);
    again();
  }
  // The observation begins when there is a task already.
  void observed_later() {
    base_slot* base = this->deque.head();
    this->spawn(0);
    this->observe(2);
    this->spawn(1);
    this->run_children(base);
    this->wait();
  }
  // The owner grants one of two tasks before a thief asks, and takes both back.
  void unasked() {
    base_slot* base = this->deque.head();
    this->spawn(0);
    this->spawn(1);
    this->deque.grant();
    this->run_children(base);
    this->wait();
  }
  void come_once() {
    base_slot stolen[2];
    const std::size_t n = this->deque.steal(stolen, 2, {2, 10}).tasks;
    for (std::size_t i = 0; i < n; ++i) this->run_counted(stolen[i]);
  }

  // The frame is suspended: its tasks are published, and the loop takes them from both ends.
  void suspended() {
    this->spawn(0);
    this->spawn(1);
    this->spawn(2);
    this->deque.publish();
    base_slot s;
    if (this->deque.take_oldest(s, [](const auto&) { return true; })) this->run_counted(s);
    if (this->deque.take_newest(s)) this->run_counted(s);
    this->wait();
  }

  // The tasks move to another array while a thief takes some, and the old array is written to.
  void moved() {
    base_slot* old = this->deque.head();
    this->spawn(0);
    this->spawn(1);
    this->deque.publish();
    this->deque.move_to(this->slots + 6, 6);
    old[0].write(7, nullptr);
    old[1].write(8, nullptr);
    base_slot s;
    if (this->deque.take_newest(s)) this->run_counted(s);
    this->wait();
  }

  // A frame that lost a task to a thief spawns another, and is suspended. The loop counts the last
  // one.
  void lost() {
    base_slot* base = this->deque.head();
    this->spawn(0);
    this->run_children(base);
    this->spawn(1);
    base_slot s;
    if (this->deque.take_newest(s)) this->run_counted(s);
    this->wait();
  }

  // A join one of whose branches left an escaped task above the slot of the other branch.
  void escaped() {
    base_slot* base = this->deque.head();
    this->spawn(0);
    base_slot* join = this->spawn(1);
    this->spawn(2);
    if (this->deque.extract(join)) this->run(1);
    this->run_children(base);
    this->wait();
  }

  // A frame takes back a counted task, or loses it to a thief, and spawns another one.
  void taken_back() {
    base_slot* base = this->deque.head();
    this->spawn(0);
    base_slot* join = this->spawn(1);
    if (this->deque.extract(join)) this->run(1);
    this->run_children(base);
    this->spawn(2);
    this->deque.publish();
    this->wait();
  }

  // The loop takes a task, or finds that a thief has taken it. Then a frame spawns another one.
  void taken_by_the_loop() {
    this->spawn(0);
    this->deque.publish();
    base_slot s;
    if (this->deque.take_newest(s)) this->run_counted(s);
    this->spawn(1);
    this->deque.publish();
    this->wait();
  }

  // Tasks that were counted before they came into this deque, and a frame with tasks above them.
  void counted() {
    base_slot batch[2];
    for (int i = 0; i < 2; ++i) batch[i].write(i, &this->finish);
    this->spawned = 2;
    this->finish.add(2);
    this->deque.push_counted(batch, 2);
    base_slot* base = this->deque.head();
    this->spawn(2);
    this->run_children(base);
    this->wait();
  }
};

}  // namespace apgas::model

// With --deep, every scenario with one thief is explored with two preemptions. Without it, only one
// preemption is allowed where a third thread refuses a pop, which saves about 5,000,000
// interleavings.
int main(int count, char** arguments) {
  using namespace apgas::model;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using as_written = deque_suite<apgas::scheduler::deque>;
  const bool deep = count > 1 && std::strcmp(arguments[1], "--deep") == 0;
  bool right = true;
  for (int number = 0; number < scenario_count; ++number) {
    thieves = 1;
    right &= holds<as_written>(scenarios[number], number, number < refused || deep ? 2 : 1);
    thieves = 2;
    right &= holds<as_written>(scenarios[number], number, 1);
  }
  thieves = 1;
#define REFUTE(name) \
  right &= refuted<deque_suite<apgas::scheduler::name::deque>>(#name, scenario_count, 2);
  DEQUE_MUTANTS(REFUTE)
  return right ? 0 : 1;
}
