// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/task_locals.hpp>

#include <memory>

#include <apgas/errors.hpp>
#include <apgas/scheduler/worker.hpp>
#include <apgas/sync/task.hpp>

namespace apgas::inline v0::sync {
namespace {

constexpr std::uint32_t locals_bits = scheduler::has_locals | scheduler::has_inherited_locals;

void destroy_list(local_value* first) noexcept {
  while (first != nullptr) {
    const std::unique_ptr<local_value> value(first);
    first = value->next;
  }
}

// Ends the values of the running task. The destructor of one may make another one.
void end_locals(scheduler::fiber& self) noexcept {
  while (self.task.locals != nullptr) {
    destroy_list(static_cast<local_value*>(std::exchange(self.task.locals, nullptr)));
  }
  self.task.rare.has_attributes &= ~locals_bits;
}

}  // namespace

void local_value::task_ended(scheduler::fiber& self) noexcept { end_locals(self); }

std::uint64_t new_local_key() noexcept {
  static base::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, base::relaxed) + 1;
}

scheduler::fiber& user_of_locals() {
  scheduler::fiber& self = task_fiber("task_local");
  if (self.task.rare.atomic_depth != 0) {
    throw illegal_operation(
        "a task_local was used inside a critical section, which another task may execute; read it "
        "before the section, or set it after the section");
  }
  return self;
}

void add_local(scheduler::fiber& self, local_value* value, bool inherited) noexcept {
  value->next = static_cast<local_value*>(self.task.locals);
  self.task.locals = value;
  self.task.rare.has_attributes |= inherited ? locals_bits : scheduler::has_locals;
}

inherited_locals::inherited_locals(const scheduler::fiber& parent) {
  local_value** last = &first_;
  try {
    for (auto* v = static_cast<const local_value*>(parent.task.locals); v != nullptr; v = v->next) {
      *last = v->copy();
      if (*last != nullptr) last = &(*last)->next;
    }
  } catch (...) {
    destroy_list(first_);
    throw;
  }
}

inherited_locals::~inherited_locals() { destroy_list(first_); }

void inherited_locals::adopt() noexcept {
  if (first_ == nullptr) return;
  scheduler::task_state& task = scheduler::current_fiber()->task;
  task.locals = std::exchange(first_, nullptr);
  task.rare.has_attributes |= locals_bits;
}

own_locals::own_locals(scheduler::fiber& self, bool inherit)
    : locals_(self.task.locals), attributes_(self.task.rare.has_attributes & locals_bits) {
  if (locals_ == nullptr) return;
  inherited_locals values = inherit ? inherited_locals(self) : inherited_locals();
  self.task.locals = nullptr;
  self.task.rare.has_attributes &= ~locals_bits;
  values.adopt();
}

own_locals::~own_locals() {
  scheduler::fiber& self = *scheduler::current_fiber();
  if (self.task.locals != nullptr) end_locals(self);
  self.task.locals = locals_;
  self.task.rare.has_attributes |= attributes_;
}

}  // namespace apgas::inline v0::sync
