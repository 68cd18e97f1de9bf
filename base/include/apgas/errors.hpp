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
//
//   try {
//     apgas::rget(apgas::global_ptr<int>());
//   } catch (const apgas::error& e) {  // whatever the library found wrong
//     std::cerr << e.what() << '\n';
//   }
class APGAS_API error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A call was made where it is not allowed, for example outside a task, or a call that may suspend
// inside `atomic` or `when`. Corresponds to X10's IllegalOperationException.
//
//   try {
//     apgas::atomic([] { apgas::yield(); });
//   } catch (const apgas::illegal_operation& e) {
//     std::cerr << e.what() << '\n';
//   }
class APGAS_API illegal_operation : public error {
 public:
  using error::error;
};

// A place id is out of range, or an object was accessed at a place where it does not live.
// Corresponds to X10's BadPlaceException.
//
//   try {
//     apgas::at(apgas::place(1'000'000), [] { work(); });
//   } catch (const apgas::bad_place& e) {
//     std::cerr << e.what() << '\n';
//   }
class APGAS_API bad_place : public error {
 public:
  using error::error;
};

// A value could not be serialised, or received bytes are not the serialised form of the expected
// type.
//
//   try {
//     apgas::at(p, [](const std::vector<double>& v) { use(v); }, x);
//   } catch (const apgas::serialization_error& e) {
//     std::cerr << e.what() << '\n';
//   }
class APGAS_API serialization_error : public error {
 public:
  using error::error;
};

// The runtime could not start because of a setting, the launcher, the transport or a limit of the
// system. The message names the setting to change.
//
//   bool can_start(int argc, char** argv) {
//     try {
//       apgas::runtime runtime(argc, argv);
//       return true;
//     } catch (const apgas::launch_error& e) {
//       std::cerr << e.what() << '\n';
//       return false;
//     }
//   }
class APGAS_API launch_error : public error {
 public:
  using error::error;
};

// The last promise of a future was destroyed before it was given a value or an exception.
//
//   const apgas::future<int> lost = apgas::promise<int>().get_future();
//   try {
//     use(lost.get());
//   } catch (const apgas::broken_promise& e) {
//     std::cerr << e.what() << '\n';
//   }
class APGAS_API broken_promise : public error {
 public:
  using error::error;
};

// A place that takes part in the operation has failed. Corresponds to X10's DeadPlaceException.
//
//   try {
//     apgas::at(p, [] { work(); });
//   } catch (const apgas::dead_place_error& e) {
//     std::cerr << e.what() << '\n';
//   }
class APGAS_API dead_place_error : public error {
 public:
  using error::error;
};

// A task used a clock, or passed it to a child, without being registered on it, or passed it where
// that would deadlock. Corresponds to X10's ClockUseException.
//
//   const auto c = apgas::clock::make();
//   c.drop();
//   try {
//     c.advance();
//   } catch (const apgas::clock_use_error& e) {
//     std::cerr << e.what() << '\n';
//   }
class APGAS_API clock_use_error : public error {
 public:
  using error::error;
};

// A task called a phaser operation that its registration mode does not allow.
//
//   const apgas::phaser ph(apgas::phaser_mode::signal);
//   try {
//     ph.wait();
//   } catch (const apgas::phaser_use_error& e) {
//     std::cerr << e.what() << '\n';
//   }
class APGAS_API phaser_use_error : public error {
 public:
  using error::error;
};

// Represents an exception of another place whose type could not be re-created at this one. List a
// type in `exception_types` to have it re-created.
//
//   try {
//     apgas::at(p, [] { throw bad_matrix("not square"); });
//   } catch (const bad_matrix& e) {  // p is this place, or exception_types lists bad_matrix
//     std::cerr << e.what() << '\n';
//   } catch (const apgas::remote_exception& e) {
//     std::cerr << "place " << e.place_id() << " threw " << e.type_name() << ": "
//               << e.remote_what() << '\n';
//   }
//
// Context: any thread, as for any value.
class APGAS_API remote_exception : public error {
 public:
  // `place` is the id of the place where the exception was thrown, `type` the name of its type, and
  // `text` its what(), or empty if it has none. Throws: std::bad_alloc. Cost: composes what().
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
