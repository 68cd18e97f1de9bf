// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what happens next in a simulation: at random from a seed, or all possibilities in turn.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include <apgas/base/random.hpp>

namespace sim {

class choice {
 public:
  virtual ~choice() = default;
  // Returns a number in [0, n). Requires: n > 0.
  virtual std::uint32_t below(std::uint32_t n) = 0;
  // Returns whether this state, which the choices so far have led to, has been explored already.
  virtual bool known(const std::string& /*state*/) { return false; }
  // Returns whether the simulation should ask known() at this point.
  virtual bool wants_state() const { return false; }
};

// Chooses at random.
class random_choice final : public choice {
 public:
  explicit random_choice(std::uint64_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t n) override { return random_.below(n); }

 private:
  apgas::base::random_engine random_;
};

// Explores all choices depth first, by running the program again and again from its start:
//   do run(every); while (every.next());
// It does not explore a state again that it has met before.
class every_choice final : public choice {
 public:
  std::uint32_t below(std::uint32_t n) override {
    if (n == 1) return 0;
    if (depth_ == path_.size()) path_.push_back({0, n});
    return path_[depth_++].taken;
  }
  bool wants_state() const override { return depth_ == path_.size(); }
  bool known(const std::string& state) override { return !seen_.insert(state).second; }

  // Moves on to the next untried branch. Returns false if there is none.
  bool next() {
    while (!path_.empty() && path_.back().taken + 1 == path_.back().of) path_.pop_back();
    depth_ = 0;
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

  std::size_t states() const { return seen_.size(); }

 private:
  struct branch {
    std::uint32_t taken;
    std::uint32_t of;
  };
  std::vector<branch> path_;
  std::size_t depth_ = 0;
  std::unordered_set<std::string> seen_;
};

}  // namespace sim
