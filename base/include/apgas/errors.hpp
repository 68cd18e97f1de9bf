// SPDX-License-Identifier: Apache-2.0
#pragma once

// The exception classes of the library, all derived from apgas::error. Each message names what was
// wanted, what was found and what to do. The class that a finish throws, multiple_exceptions, is in
// exceptions.hpp.
//
// Invariant: every class here can be re-created from its what() (remote_exception from its three
// fields). So an exception that crosses a place boundary keeps its type.

#include <stdexcept>
#include <string>
#include <utility>

#include <apgas/base/api.hpp>

namespace apgas::inline v0 {

// The base class of every exception that originates in the library.
class APGAS_API error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A call was made where it is not allowed, for example outside a task, or a call that may suspend
// inside `atomic` or `when`. Corresponds to X10's IllegalOperationException.
class APGAS_API illegal_operation : public error {
 public:
  using error::error;
};

// A place id is out of range, or an object was accessed at a place where it does not live.
// Corresponds to X10's BadPlaceException.
class APGAS_API bad_place : public error {
 public:
  using error::error;
};

// A value could not be serialised, or received bytes are not the serialised form of the expected
// type.
class APGAS_API serialization_error : public error {
 public:
  using error::error;
};

// The runtime could not start because of a setting, the launcher, the transport or a limit of the
// system. The message names the setting to change.
class APGAS_API launch_error : public error {
 public:
  using error::error;
};

// The last promise of a future was destroyed before it was given a value or an exception.
class APGAS_API broken_promise : public error {
 public:
  using error::error;
};

// A place that takes part in the operation has failed. Corresponds to X10's DeadPlaceException.
class APGAS_API dead_place_error : public error {
 public:
  using error::error;
};

// A task used a clock, or passed it to a child, without being registered on it, or passed it where
// that would deadlock. Corresponds to X10's ClockUseException.
class APGAS_API clock_use_error : public error {
 public:
  using error::error;
};

// A task called a phaser operation that its registration mode does not allow.
class APGAS_API phaser_use_error : public error {
 public:
  using error::error;
};

// Represents an exception of another place whose type could not be re-created at this one. List a
// type in `exception_types` to have it re-created.
// Context: any thread, as for any value.
class APGAS_API remote_exception : public error {
 public:
  // `place` is the id of the place where the exception was thrown, `type` the name of its type, and
  // `text` its what(), or empty if the type has none. Throws: std::bad_alloc.
  remote_exception(int place, std::string type, std::string text)
      : error(describe(place, type, text)),
        place_(place),
        type_(std::move(type)),
        text_(std::move(text)) {}

  // These return the three values above; what() combines them in one line.
  int place_id() const noexcept { return place_; }
  const std::string& type_name() const noexcept { return type_; }
  const std::string& remote_what() const noexcept { return text_; }

 private:
  // Uses append() because g++ 12 warns in user code about "..." + std::to_string() (GCC bug
  // 105329).
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
