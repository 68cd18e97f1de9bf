// SPDX-License-Identifier: Apache-2.0
// Draining: a spawner is suspended, with its continuation below its tasks, while another fiber runs
// the tasks. This follows scheduler/loop/src/drain.cpp, with fibers replaced by functions. Checked
// properties: the spawner continues exactly once, and the counts of its finish add up, whichever
// thread takes the continuation. See docs/protocols/drain.md.
// clang-format off: worker_model.hpp comes before every header of the product
#include "worker_model.hpp"
#include "drain_mutants.hpp"
// clang-format on

namespace apgas::model {

enum class mistake {
  none,
  continuation_is_a_task,  // I2: a thread that runs the continuation releases a count
  drain_keeps_its_count,   // I2: the drain fiber does not release its count at its end
  drain_goes_below_floor,  // I1: the slots below the floor are drained as well
};

constexpr const char* scenarios[] = {"two thieves", "a drained task suspends",
                                     "counted tasks below", "a drained task publishes",
                                     "a granted task below"};
constexpr int scenario_count = 5;
mistake made = mistake::none;

template <template <class> class Deque>
struct drain_suite : rl::test_suite<drain_suite<Deque>, 3>,
                     worker_model<Deque, scheduler::task_counter> {
  using slot = typename drain_suite::slot;
  static inline int scenario = 0;

  slot* frame = nullptr;           // where the slots of the spawner's frame begin
  rl::var<int> context_saved;      // of the spawner
  int resumed = 0;                 // how often the spawner has continued
  base::atomic<int> suspended{0};  // 1: the drain fiber waits for thread 2

  void before() {
    this->start(false);
    context_saved($) = 0;
  }

  void thread(unsigned index) {
    if (index == 0) {
      spawner();
      loop();
    } else if (index == 2 && scenario == 1) {
      if (suspended.exchange(2, base::acq_rel) == 1) this->release();  // the drain fiber ends there
    } else if (index == 1 || scenario == 0) {
      slot stolen[2];
      const std::size_t n =
          steal(this->deque, stolen, 2, scenario == 4 ? manner::ask_first : manner::insist);
      for (std::size_t i = 0; i < n; ++i) run_taken(stolen[i]);
    }
  }

  void after() {
    loop();
    if (suspended.load(base::relaxed) == 1) this->release();
    RL_ASSERT(resumed == 1);
    this->check_end();
  }

  void spawner() {
    if (scenario == 2) {
      this->spawn(2);
      this->deque.publish();
    }
    frame = this->deque.head();
    if (scenario == 4) {  // a thief may ask before the owner takes this task back
      this->spawn(2);
      this->run_children(frame);
    }
    this->spawn(0);
    this->spawn(1);
    slot* floor = this->deque.head();
    while (floor > this->deque.lowest_private() && floor[-1].what == kind::task) --floor;
    context_saved($) = 1;
    drain(floor);
  }

  void drain(slot* floor) {
    slot continuation;
    continuation.write(9, &this->finish, kind::continuation);
    if (floor == this->deque.head() || !this->deque.exchange_below(floor, continuation)) {
      go_on(true);
      return;
    }
    for (;;) {
      slot* s = this->deque.head() - 1;
      if (!this->deque.pop(s)) break;
      if (s == floor && made != mistake::drain_goes_below_floor) {
        go_on(true);
        return;
      }
      this->run(s->number());
      if (scenario == 1) {
        this->deque.publish();
        suspended.store(1, base::release);
        if (suspended.exchange(0, base::acq_rel) == 1) this->release();
        return;
      }
      if (scenario == 3 && this->spawned == 2) publish_inside();
    }
    if (made != mistake::drain_keeps_its_count) this->release();
  }

  // A drained task with a fork_join, one of whose branches left an escaped task: the join counts
  // all slots, but no fiber is left.
  void publish_inside() {
    slot* join = this->spawn(2);
    this->spawn(3);
    if (this->deque.extract(join)) this->run(2);
  }

  // The spawner continues. `attached`: the drain fiber of its own worker enters it.
  void go_on(bool attached) {
    RL_ASSERT(++resumed == 1);
    RL_ASSERT(context_saved($) == 1);
    if (attached) this->run_children(frame);
    this->wait(attached);
  }

  void run_taken(slot& s) {
    if (s.what != kind::continuation) {
      this->run_counted(s);
      return;
    }
    go_on(false);
    if (made == mistake::continuation_is_a_task) this->release();
  }

  void loop() {
    slot s;
    while (this->deque.take_newest(s)) run_taken(s);
  }
};

}  // namespace apgas::model

int main() {
  using namespace apgas::model;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using as_written = drain_suite<apgas::scheduler::deque>;
  bool right = true;
  for (int number = 0; number < scenario_count; ++number) {
    right &= holds<as_written>(scenarios[number], number, number == 0 || number == 4 ? 1 : 2);
  }
  made = mistake::continuation_is_a_task;
  right &= refuted<as_written>("continuation_is_a_task", scenario_count, 1);
  made = mistake::drain_keeps_its_count;
  right &= refuted<as_written>("drain_keeps_its_count", scenario_count, 1);
  made = mistake::drain_goes_below_floor;
  right &= refuted<as_written>("drain_goes_below_floor", scenario_count, 1);
  made = mistake::none;
#define REFUTE(name) \
  right &= refuted<drain_suite<apgas::scheduler::name::deque>>(#name, scenario_count, 1);
  DRAIN_MUTANTS(REFUTE)
  return right ? 0 : 1;
}
