// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "trace_sink.hpp"

namespace apgas::inline v0::launch {

// A file that is written piece by piece, and remembers the first error.
class trace_stream {
 public:
  // Opens the file and empties it. Throws: launch_error if it cannot be written.
  explicit trace_stream(const std::string& path);
  trace_stream(const trace_stream&) = delete;
  trace_stream& operator=(const trace_stream&) = delete;
  ~trace_stream();

  void write(const char* bytes, std::size_t n) noexcept;
  // Returns 0, or the number of the first error. No write may follow.
  int close() noexcept;

 private:
  std::FILE* file_;
  int error_ = 0;
};

// Write the Trace Event Format, and the protocol buffers of Perfetto.
std::unique_ptr<trace_sink> make_json_writer(trace_stream& to);
std::unique_ptr<trace_sink> make_perfetto_writer(trace_stream& to);
// The one that the extension of `path` asks for.
std::unique_ptr<trace_sink> make_trace_writer(const std::string& path, trace_stream& to);

}  // namespace apgas::inline v0::launch
