// SPDX-License-Identifier: Apache-2.0
#pragma once

// The programs that the simulation of finish runs: what each task does next.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/base/random.hpp>

namespace sim {

enum class op { async_at, at, uncounted, open_finish, close_finish, end };

struct action {
  op what = op::end;
  int place = 0;
  int node = 0;  // names the child in a tree_script
};

// What a script may look at.
struct task_view {
  int place;
  int node;
  int open_finishes;  // that this task has opened and not closed
  int step;           // actions of this task so far
};

class script {
 public:
  virtual ~script() = default;
  virtual action next(const task_view& task) = 0;
};

// Any program: tasks that do anything, until the budgets are used up.
class random_script final : public script {
 public:
  struct shape {
    int places = 4;
    int tasks = 40;       // budget
    int finishes = 5;     // budget of nested finishes
    double stop = 0.3;    // chance that a task does no more, per action
    double local = 0.25;  // chance that a child stays at its spawner's place
    double at = 0.2;      // chance that a child is called by at, not spawned
    double uncounted = 0.05;
    double finish = 0.15;  // chance that a task opens a finish, per action
  };

  random_script(shape s, std::uint64_t seed) : shape_(s), random_(seed) {}

  action next(const task_view& task) override {
    const bool first_of_main = task.node == 0 && task.step == 0;
    if (tasks_ >= shape_.tasks || (!first_of_main && random_.real() < shape_.stop)) {
      return {task.open_finishes > 0 ? op::close_finish : op::end};
    }
    if (finishes_ < shape_.finishes && random_.real() < shape_.finish) {
      ++finishes_;
      return {op::open_finish};
    }
    ++tasks_;
    const bool local = random_.real() < shape_.local;
    const auto any = static_cast<int>(random_.below(static_cast<std::uint32_t>(shape_.places)));
    const double kind = random_.real();
    const op what = kind < shape_.at                      ? op::at
                    : kind < shape_.at + shape_.uncounted ? op::uncounted
                                                          : op::async_at;
    return {what, local ? task.place : any, tasks_};
  }

  int tasks() const { return tasks_; }

 private:
  shape shape_;
  apgas::base::random_engine random_;
  int tasks_ = 0;
  int finishes_ = 0;
};

// A given tree of tasks. Node 0 is main; a node spawns its children in order and ends.
class tree_script final : public script {
 public:
  struct node {
    op kind = op::async_at;
    int place = 0;
    bool own_finish = false;  // its children are in a finish of its own
    std::vector<int> children;
  };

  tree_script() : nodes_(1) {}

  int add(int parent, int place, op kind = op::async_at) {
    const int id = static_cast<int>(nodes_.size());
    nodes_.push_back({kind, place, false, {}});
    at(parent).children.push_back(id);
    return id;
  }
  node& at(int id) { return nodes_[static_cast<std::size_t>(id)]; }

  action next(const task_view& task) override {
    const node& n = at(task.node);
    auto step = static_cast<std::size_t>(task.step);
    if (n.own_finish) {
      if (step == 0) return {op::open_finish};
      --step;
    }
    if (step < n.children.size()) {
      const int child = n.children[step];
      return {at(child).kind, at(child).place, child};
    }
    return {task.open_finishes > 0 ? op::close_finish : op::end};
  }

 private:
  std::vector<node> nodes_;
};

}  // namespace sim
