// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ends the job when there is no memory for a message that arrives or is in transit. The sender of a
// message gets std::bad_alloc instead, which it can handle. An incoming message has no caller to
// report to: its sender already relies on delivery, and the code runs inside callbacks of C
// libraries, through which no exception may pass. So the job ends, with one line that names both
// ends of the message and the remedy.

#include <cstddef>
#include <exception>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// The other end of a message, for the line that is printed. `host` may be null.
struct message_end {
  const char* way;  // "from" or "to"
  rank place;
  const char* host;
};

// Reserves the memory that the functions below need to compose their line. Every endpoint calls it;
// further calls have no effect.
// Throws: std::bad_alloc.
void keep_memory_for_exit_reason();

// Ends the job because of the exception being handled, a std::bad_alloc or any other: a message of
// `bytes` bytes cannot be stored.
// Context: a catch block, any thread.
[[noreturn]] void message_failed(std::size_t bytes, const message_end& end) noexcept;
// The same for a failure that cannot be attributed to one message.
[[noreturn]] void network_failed() noexcept;

// Calls f(), which stores a message of `bytes` bytes, and ends the job if f() throws.
template <class F>
void or_end_job(std::size_t bytes, const message_end& end, F&& f) noexcept {
  try {
    f();
  } catch (const std::exception&) {
    message_failed(bytes, end);
  }
}

}  // namespace apgas::inline v0::comm
