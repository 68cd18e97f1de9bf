// SPDX-License-Identifier: Apache-2.0
#pragma once

// The programs that the simulation of finish runs. A script decides what each task does next.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/base/random.hpp>

namespace sim {

enum class op { async_at, at, uncounted, open_finish, close_finish, end };

struct action {
  op what = op::end;
  int place = 0;
  int tree_node = 0;  // the tree node of the child, in a tree_script
};

// What a script knows of a task.
struct task_view {
  int place;
  int tree_node;
  int open_finishes;  // finishes that this task has opened and not closed
  int step;           // actions of this task so far
};

class script {
 public:
  virtual ~script() = default;
  virtual action next(const task_view& task) = 0;
};

// A random program: tasks do anything, until the budgets are used up.
class random_script final : public script {
 public:
  struct shape {
    int places = 4;
    int tasks = 40;       // budget
    int finishes = 5;     // budget of nested finishes
    double stop = 0.3;    // probability that a task ends, for each action
    double local = 0.25;  // probability that a child stays at the place of its spawner
    double at = 0.2;      // probability that a child is called by at
    double uncounted = 0.05;
    double finish = 0.15;  // probability that a task opens a finish, for each action
  };

  random_script(shape s, std::uint64_t seed) : shape_(s), random_(seed) {}

  action next(const task_view& task) override {
    const bool first_of_main = task.tree_node == 0 && task.step == 0;
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

// A given tree of tasks. Tree node 0 is main. The task of a tree node spawns its children in order
// and ends.
class tree_script final : public script {
 public:
  struct tree_node {
    op kind = op::async_at;
    int place = 0;
    bool own_finish = false;  // the task opens a finish for its children
    std::vector<int> children;
  };

  tree_script() : nodes_(1) {}

  int add(int parent, int place, op kind = op::async_at) {
    const int id = static_cast<int>(nodes_.size());
    nodes_.push_back({kind, place, false, {}});
    at(parent).children.push_back(id);
    return id;
  }
  tree_node& at(int id) { return nodes_[static_cast<std::size_t>(id)]; }

  action next(const task_view& task) override {
    const tree_node& n = at(task.tree_node);
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
  std::vector<tree_node> nodes_;
};

}  // namespace sim
