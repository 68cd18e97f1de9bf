// SPDX-License-Identifier: Apache-2.0
#pragma once

// The programs that the simulator runs: each action of each task on the one phaser.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/base/random.hpp>
#include <apgas/phaser_mode.hpp>

namespace phase_sim {

using apgas::phaser_mode;

// next: advance, or as much of it as the task's mode allows. resume: only signal. travel: an `at`,
// or the return from it; only with several places.
enum class op { nothing, next, resume, wait, single, drop, spawn, end, travel };

struct action {
  op what = op::end;
  int name = 0;  // of the child
  phaser_mode mode = phaser_mode::signal_wait;
};

// The part of a task's state that a script may use.
struct task_view {
  int name;
  int step;  // number of actions of this task so far
  phaser_mode mode;
  bool registered;
};

class script {
 public:
  virtual ~script() = default;
  virtual action next(const task_view& task) = 0;
  virtual phaser_mode main_mode() const = 0;
};

// A list of actions for each task. Task 0 is main, which makes the phaser.
class list_script final : public script {
 public:
  explicit list_script(std::vector<std::vector<action>> tasks,
                       phaser_mode main = phaser_mode::signal_wait)
      : tasks_(std::move(tasks)), main_(main) {}

  action next(const task_view& task) override {
    const auto& list = tasks_[static_cast<std::size_t>(task.name)];
    const auto step = static_cast<std::size_t>(task.step);
    return step < list.size() ? list[step] : action{};
  }
  phaser_mode main_mode() const override { return main_; }

 private:
  std::vector<std::vector<action>> tasks_;
  phaser_mode main_;
};

// Random programs: the tasks act at random until the budgets are used up.
class random_script final : public script {
 public:
  struct shape {
    int tasks = 40;      // budget
    bool modes = true;   // false: mode signal_wait for all tasks, as on a clock
    double spawn = 0.3;  // probability of each action
    double end = 0.1;
    double drop = 0.03;
    double resume = 0.2;
    double single = 0.0;
    double travel = 0.0;
    int steps = 1000;  // the largest number of actions of a task
  };

  random_script(shape s, std::uint64_t seed)
      : shape_(s),
        random_(seed),
        main_(s.modes && random_.below(4) == 0 ? phaser_mode::signal_wait_next
                                               : phaser_mode::signal_wait) {}

  action next(const task_view& t) override {
    const bool first_of_main = t.name == 0 && t.step == 0;
    if (!t.registered || t.step >= shape_.steps) return {};
    double chance = random_.real();
    const auto is = [&chance](double p) { return (chance -= p) < 0; };
    if (tasks_ < shape_.tasks && (first_of_main || is(shape_.spawn))) {
      return {op::spawn, ++tasks_, child_of(t.mode)};
    }
    if (is(shape_.end)) return {};
    if (is(shape_.drop)) return {op::drop};
    if (is(shape_.resume)) return {op::resume};
    if (is(shape_.single) && t.mode == phaser_mode::signal_wait_next) return {op::single};
    if (is(shape_.travel)) return {op::travel};
    return {op::next};
  }
  phaser_mode main_mode() const override { return main_; }
  int tasks() const { return tasks_; }

 private:
  // A mode that the parent's mode includes.
  phaser_mode child_of(phaser_mode parent) {
    if (!shape_.modes || parent == phaser_mode::signal || parent == phaser_mode::wait) {
      return parent;
    }
    switch (random_.below(6)) {
      case 0:
        return phaser_mode::signal;
      case 1:
        return phaser_mode::wait;
      case 2:
        return phaser_mode::signal_wait;
      default:
        return parent;
    }
  }

  shape shape_;
  apgas::base::random_engine random_;
  phaser_mode main_;
  int tasks_ = 0;
};

}  // namespace phase_sim
