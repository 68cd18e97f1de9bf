// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include <apgas/scheduler/fiber.hpp>

// Gives what tasks wait for a name that means the same at all places, so that the wait-for graphs
// of several places can be joined. The layers above know these objects and implement it.
namespace apgas::inline v0::scheduler {

// A name. `kind` is a letter; 0 means that only this place knows the object, whose address is then
// in `first`.
struct object_name {
  static constexpr char call = 'a';  // the kind of a call of another place
  char kind = 0;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  auto operator<=>(const object_name&) const = default;
};
std::string text_of(const object_name& name);

class object_names {
 public:
  object_names() = default;
  object_names(const object_names&) = delete;
  object_names& operator=(const object_names&) = delete;
  virtual ~object_names() = default;

  // The name of what a task waits for; of an object that cannot go on before a task does; and of
  // the finish that counts a task. The objects exist, but for the finish of served_by(). Context:
  // as wait_explainer.
  virtual object_name of(const wait_record& waits) const = 0;
  virtual object_name of(const waited_object& object) const = 0;
  virtual object_name of_finish(const task_counter& finish) const = 0;

  // What a task that came from another place serves: the call of the task there which waits for its
  // end, and the finish that counts it. A null finish: this fiber runs no such task.
  struct served {
    object_name call{};
    const task_counter* finish = nullptr;
  };
  virtual served served_by(const fiber& f) const = 0;
};

}  // namespace apgas::inline v0::scheduler
