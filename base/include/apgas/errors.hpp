// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exceptions of the library, all derived from apgas::error. Each message names what was wanted,
// what was found and what to do. multiple_exceptions, which a finish throws, is in exceptions.hpp.
//
// Invariant: every class here can be made again from its what() (remote_exception: from its three
// fields), so that it crosses a place boundary with its type.

#include <stdexcept>
#include <string>
#include <utility>

namespace apgas::inline v0 {

// Base of everything this library throws by itself.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A call that its context does not allow: outside a task, or suspending inside an atomic section.
class illegal_operation : public error {
 public:
  using error::error;
};

// A place that does not exist, or access to data of another place.
class bad_place : public error {
 public:
  using error::error;
};

// A value that could not be packed, or bytes that are not what was expected.
class serialization_error : public error {
 public:
  using error::error;
};

// The program could not be started as asked: a setting, the launcher, the transport.
class launch_error : public error {
 public:
  using error::error;
};

// The last promise of a future went away without a value.
class broken_promise : public error {
 public:
  using error::error;
};

// A place that takes part in the operation died.
class dead_place_error : public error {
 public:
  using error::error;
};

// A clock used by a task that is not registered on it, or passed where that would deadlock.
class clock_use_error : public error {
 public:
  using error::error;
};

// A call that the task's mode on the phaser does not allow.
class phaser_use_error : public error {
 public:
  using error::error;
};

// Stands for an exception of another place whose type could not be made again here.
class remote_exception : public error {
 public:
  // `type` is the name of the thrown type, `text` its what().
  remote_exception(int place, std::string type, std::string text)
      : error(describe(place, type, text)),
        place_(place),
        type_(std::move(type)),
        text_(std::move(text)) {}

  int place_id() const noexcept { return place_; }
  const std::string& type_name() const noexcept { return type_; }
  const std::string& remote_what() const noexcept { return text_; }

 private:
  // By append: g++ 12 warns in the user's code about "..." + std::to_string() (its bug 105329).
  static std::string describe(int place, const std::string& type, const std::string& text) {
    std::string line = "place ";
    line.append(std::to_string(place)).append(" threw ").append(type);
    if (!text.empty()) line.append(": ").append(text);
    return line;
  }

  int place_;
  std::string type_;
  std::string text_;
};

}  // namespace apgas::inline v0
