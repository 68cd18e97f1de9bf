// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/errors.hpp>

// The exception that a finish throws when tasks failed, and what it tells about each of them.
//
//   try {
//     apgas::finish([] {
//       apgas::async(apgas::name("writer"), [] { throw std::runtime_error("disk full"); });
//     });
//   } catch (const apgas::multiple_exceptions& failures) {
//     for (const apgas::task_exception& f : failures) std::cerr << f.describe() << '\n';
//     const apgas::task_exception& first = failures[failures.size() - 1];
//     const apgas::spawn_site site = first.site();
//     assert(site.task_name == "writer" && first.place_id() == apgas::here().id());
//     const std::exception_ptr cause = first.exception();  // for std::rethrow_exception
//   }
namespace apgas::inline v0 {

// The place in the source code where a task was spawned.
struct spawn_site {
  std::string file;       // as the compiler names it; empty if unknown
  unsigned line = 0;      // 0 if the task is main
  std::string function;   // the function that spawned the task
  std::string task_name;  // the name given by apgas::name, or empty
};

// One exception that left a task, with the place where the task ran and the site where it was
// spawned. It converts to std::exception_ptr, so std::rethrow_exception accepts it.
// Context: any thread, as for any value.
class APGAS_API task_exception {
 public:
  // Combines an exception with the number of the place (`place_id`) and the spawn site of the task
  // that threw it. Throws nothing.
  task_exception(std::exception_ptr exception, int place_id, spawn_site site)
      : exception_(std::move(exception)), place_id_(place_id), site_(std::move(site)) {}

  // Returns the exception itself. If the task ran at another place and the type of its exception
  // could not be restored, this is a remote_exception.
  const std::exception_ptr& exception() const noexcept { return exception_; }
  operator const std::exception_ptr&() const noexcept { return exception_; }
  // Returns the number of the place at which the task ran.
  int place_id() const noexcept { return place_id_; }
  // Returns where the task was spawned, and its name if it has one.
  const spawn_site& site() const noexcept { return site_; }
  // Returns a line for reports, for example
  // "std::out_of_range: vector::_M_range_check (place 1, spawned at relax.cpp:31)".
  // Throws: std::bad_alloc. Cost: throws and catches the exception once, to read its text.
  APGAS_API std::string describe() const;

 private:
  std::exception_ptr exception_;
  int place_id_;
  spawn_site site_;
};

// Everything that the tasks and the body of a finish threw, in no particular order. fork_join,
// forall and the other structured forms throw it as well, for their branches. The exceptions of
// inner finishes are flattened into the list, so no element is itself a multiple_exceptions. what()
// describes the first eight elements. X10's MultipleExceptions.
// Context: any thread, as for any value.
class APGAS_API multiple_exceptions : public error {
 public:
  // Takes the exceptions over. Throws: std::bad_alloc. Cost: describe() for the first eight.
  APGAS_API explicit multiple_exceptions(std::vector<task_exception> exceptions);

  // Returns the number of exceptions.
  std::size_t size() const noexcept { return exceptions_.size(); }
  // Returns one of them. Throws: std::out_of_range unless i < size().
  const task_exception& operator[](std::size_t i) const { return exceptions_.at(i); }
  // Returns iterators over const task_exception, which are valid as long as this object.
  auto begin() const noexcept { return exceptions_.begin(); }
  auto end() const noexcept { return exceptions_.end(); }

 private:
  std::vector<task_exception> exceptions_;
};

}  // namespace apgas::inline v0
