// SPDX-License-Identifier: Apache-2.0
// glb: loot that loses tasks on its way between places.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "check.hpp"

namespace {

// A bag whose tasks each create another one until loot has been sent from this place. So a run at
// several places ends only after a place has stolen, however late that is. All loot loses a task on
// its way.
class endless_bag {
 public:
  endless_bag() = default;
  explicit endless_bag(std::size_t tasks) : tasks_(tasks) {}

  std::size_t process(std::size_t n) {
    if (!sent && apgas::num_places() > 1) return n;
    const std::size_t done = std::min(n, tasks_);
    tasks_ -= done;
    return done;
  }
  std::optional<endless_bag> split() {
    if (tasks_ < 4) return std::nullopt;
    endless_bag half(tasks_ / 2);
    tasks_ -= half.tasks_;
    return half;
  }
  void merge(endless_bag&& other) { tasks_ += other.tasks_; }
  [[nodiscard]] std::size_t size() const { return tasks_; }
  [[nodiscard]] std::size_t result() const { return tasks_; }

  template <class Archive>
  void save(Archive& archive) const {
    archive(tasks_ - 1);
    sent = true;
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(tasks_);
  }

  static inline std::atomic<bool> sent{false};

 private:
  std::size_t tasks_ = 0;
};
static_assert(apgas::glb_bag<endless_bag>);

// The message of the exception with which the first loot arrived.
std::string what_glb_throws() {
  try {
    apgas::glb(endless_bag(1'000), {.chunk = 10, .workers = 4});
  } catch (const apgas::multiple_exceptions& several) {
    return test::message_of([&] { std::rethrow_exception(several[0].exception()); });
  }
  return "nothing was thrown";
}

TEST(glb, loot_is_checked_on_arrival) {
  endless_bag::sent = false;
  const std::string what = what_glb_throws();
  if (apgas::num_places() == 1) {
    EXPECT_EQ(what, "nothing was thrown");
  } else {
    EXPECT_NE(what.find("serialize must neither lose"), std::string::npos) << what;
  }
}

}  // namespace
