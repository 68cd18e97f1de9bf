// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who decides what happens next in a simulation: a seed, or an explorer that tries everything.

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
  // A number in [0, n). Requires: n > 0.
  virtual std::uint32_t below(std::uint32_t n) = 0;
  // True: this state, reached by the choices so far, needs no further look.
  virtual bool known(const std::string& /*state*/) { return false; }
  virtual bool wants_state() const { return false; }
};

class random_choice final : public choice {
 public:
  explicit random_choice(std::uint64_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t n) override { return random_.below(n); }

 private:
  apgas::base::random_engine random_;
};

// Depth-first through all choices, by running the program again and again from its start:
//   do run(every); while (every.next());
// A state met before is not entered again: what can follow it has been seen.
class every_choice final : public choice {
 public:
  std::uint32_t below(std::uint32_t n) override {
    if (n == 1) return 0;
    if (depth_ == path_.size()) path_.push_back({0, n});
    return path_[depth_++].taken;
  }
  bool wants_state() const override { return depth_ == path_.size(); }
  bool known(const std::string& state) override { return !seen_.insert(state).second; }

  // Goes on to the next untried branch; false when there is none.
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
