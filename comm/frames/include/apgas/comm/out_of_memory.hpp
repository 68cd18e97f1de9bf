// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happens where a message finds no memory. Who sends one can be told, by std::bad_alloc; where
// one comes in there is nobody to tell: it was sent, its sender counts on it, and the code runs
// within callbacks of C libraries, which nothing may be thrown through. It ends the job, with one
// line that names both ends and the remedy.

#include <cstddef>
#include <exception>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// A message that comes from, or goes to, a rank; `host` may be null.
struct message_end {
  const char* way;  // "from" or "to"
  rank place;
  const char* host;
};

// Keeps a little memory for the words of the functions below. Called by every endpoint; once is
// enough. Throws: std::bad_alloc.
void keep_memory_for_exit_reason();

// Ends the job because of the exception being handled, a std::bad_alloc or another one: no message
// of so many bytes can be made. Context: a catch block, any thread.
[[noreturn]] void message_failed(std::size_t bytes, const message_end& end) noexcept;
// The same, where it is not known whose message that is.
[[noreturn]] void network_failed() noexcept;

// Runs what takes or makes a message of so many bytes.
template <class F>
void or_end_job(std::size_t bytes, const message_end& end, F&& f) noexcept {
  try {
    f();
  } catch (const std::exception&) {
    message_failed(bytes, end);
  }
}

}  // namespace apgas::inline v0::comm
