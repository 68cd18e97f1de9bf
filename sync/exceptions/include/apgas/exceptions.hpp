// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <vector>

#include <apgas/errors.hpp>

// What a finish throws when tasks failed.
namespace apgas::inline v0 {

// Where a task was spawned.
struct spawn_site {
  std::string file;
  unsigned line = 0;  // 0: the task is main
  std::string function;
  std::string task_name;  // given by apgas::name, or empty
};

// An exception that left a task, and which task: at which place it ran and where it was spawned.
// Converts to std::exception_ptr, so that it can be rethrown.
class task_exception {
 public:
  task_exception(std::exception_ptr exception, int place_id, spawn_site site)
      : exception_(std::move(exception)), place_id_(place_id), site_(std::move(site)) {}

  const std::exception_ptr& exception() const noexcept { return exception_; }
  operator const std::exception_ptr&() const noexcept { return exception_; }
  int place_id() const noexcept { return place_id_; }
  const spawn_site& site() const noexcept { return site_; }
  // "std::out_of_range: vector::_M_range_check (place 1, spawned at relax.cpp:31)"
  std::string describe() const;

 private:
  std::exception_ptr exception_;
  int place_id_;
  spawn_site site_;
};

// Everything that the tasks and the body of a finish (or of a structured form) threw, in no
// particular order. Those of inner finishes are taken apart: no element is a multiple_exceptions.
class multiple_exceptions : public error {
 public:
  explicit multiple_exceptions(std::vector<task_exception> exceptions);

  std::size_t size() const noexcept { return exceptions_.size(); }
  const task_exception& operator[](std::size_t i) const { return exceptions_.at(i); }
  auto begin() const noexcept { return exceptions_.begin(); }
  auto end() const noexcept { return exceptions_.end(); }

 private:
  std::vector<task_exception> exceptions_;
};

}  // namespace apgas::inline v0
