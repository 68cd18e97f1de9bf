// SPDX-License-Identifier: Apache-2.0
// One owner and two thieves on the deque: every task leaves exactly once, what it wrote is visible
// to who learns of its end, and the counters of those that left, and only those, were raised.
// docs/protocols/steal.md.
#define APGAS_MODEL_CHECK
#include "worker_model.hpp"

#include "deque_mutants.hpp"

namespace apgas::model {

using scheduler::task_counter;

template <class Derived, template <class> class Deque, bool Fenced>
struct owner_and_thieves : rl::test_suite<Derived, 3>, worker_model<Deque, task_counter, Fenced> {
  void before() { this->start(); }
  void thread(unsigned index) {
    if (index == 0) {
      static_cast<Derived*>(this)->owner();
    } else {
      this->thief();
    }
  }
  void after() {
    this->run_the_rest();
    this->check_end();
  }
};

// A finish with two tasks that its frame takes back.
template <template <class> class Deque, bool Fenced>
struct nested : owner_and_thieves<nested<Deque, Fenced>, Deque, Fenced> {
  void owner() {
    auto* base = this->deque.head();
    this->spawn(0);
    this->spawn(1);
    this->run_children(base);
    this->wait();
  }
};

// The same place of the array is used again while a thief looks at it.
template <template <class> class Deque, bool Fenced>
struct again : owner_and_thieves<again<Deque, Fenced>, Deque, Fenced> {
  void owner() {
    auto* base = this->deque.head();
    this->spawn(0);
    this->run_children(base);
    this->spawn(1);
    this->spawn(2);
    this->run_children(base);
    this->wait();
  }
};

// The frame is suspended: its tasks are published, and the loop takes them from both ends.
template <template <class> class Deque, bool Fenced>
struct suspended : owner_and_thieves<suspended<Deque, Fenced>, Deque, Fenced> {
  void owner() {
    this->spawn(0);
    this->spawn(1);
    this->spawn(2);
    this->deque.publish();
    typename suspended::slot s;
    if (this->deque.take_oldest(s)) {
      this->run(s.number());
      this->release();
    }
    if (this->deque.take_newest(s)) {
      this->run(s.number());
      this->release();
    }
    this->wait();
  }
};

// A join whose branch left an escaped task above the join's slot.
template <template <class> class Deque, bool Fenced>
struct escaped : owner_and_thieves<escaped<Deque, Fenced>, Deque, Fenced> {
  void owner() {
    auto* base = this->deque.head();
    this->spawn(0);
    auto* join = this->spawn(1, kind::join);
    this->spawn(2);
    if (this->deque.extract(join)) this->run(1);
    this->run_children(base);
    this->wait();
  }
};

// Tasks that were counted before they came (the rest of a stolen batch).
template <template <class> class Deque, bool Fenced>
struct counted : owner_and_thieves<counted<Deque, Fenced>, Deque, Fenced> {
  void owner() {
    typename counted::slot batch[2];
    for (int i = 0; i < 2; ++i) batch[i].write(i, &this->finish);
    this->spawned = 2;
    this->finish.add(2);
    this->deque.push_counted(batch, 2);
    auto* base = this->deque.head();  // a frame on top of it
    this->spawn(2);
    this->run_children(base);
    typename counted::slot s;
    if (this->deque.take_newest(s)) {
      this->run(s.number());
      this->release();
    }
    this->wait();
  }
};

template <template <class> class Deque>
bool mutant_refuted(const char* name) {
  return refuted<nested<Deque, false>, again<Deque, false>, suspended<Deque, false>,
                 escaped<Deque, false>, counted<Deque, false>, nested<Deque, true>,
                 again<Deque, true>>(name, 2);
}

}  // namespace apgas::model

int main() {
  using namespace apgas::model;
  using apgas::scheduler::deque;
  bool right = holds<nested<deque, false>>("nested frames", 3);
  right &= holds<again<deque, false>>("a slot used again", 2);
  right &= holds<suspended<deque, false>>("a suspended frame", 2);
  right &= holds<escaped<deque, false>>("an escaped task", 2);
  right &= holds<counted<deque, false>>("counted tasks", 2);
  right &= holds<nested<deque, true>, again<deque, true>, suspended<deque, true>,
                 escaped<deque, true>, counted<deque, true>>("all of these, fenced", 2);
#define REFUTE(name) right &= mutant_refuted<apgas::scheduler::name::deque>(#name);
  DEQUE_MUTANTS(REFUTE)
  return right ? 0 : 1;
}
