// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/scheduler/trace_format.hpp>

// Reads what a place has recorded (trace_format.hpp).
namespace apgas::inline v0::launch {

namespace trace = scheduler::trace;

// The bytes are no record of a place, or not a whole one.
class bad_trace_record : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct trace_event {
  trace::event_kind kind = trace::event_kind::none;
  std::uint64_t cycles = 0;  // since the start of the recorder
  const std::uint64_t* words = nullptr;
};

class place_trace {
 public:
  struct thread {
    std::span<const std::uint64_t> words;
    std::uint64_t dropped = 0;
    bool is_worker = true;
  };

  // `name` is that of the source, for errors. Throws: bad_trace_record.
  place_trace(std::vector<std::byte> bytes, const std::string& name);
  place_trace(place_trace&&) = default;

  int place() const noexcept { return static_cast<int>(header_.place); }
  const trace::header& header() const noexcept { return header_; }
  const std::vector<thread>& threads() const noexcept { return threads_; }
  // Returns the text with that number; empty for 0.
  std::string_view text(std::uint64_t number) const noexcept {
    return number == 0 || number > texts_.size() ? std::string_view{} : texts_[number - 1];
  }

  // When the recording began, in cycles since the start of the recorder.
  std::uint64_t begun() const noexcept { return header_.start_cycles - header_.base_cycles; }
  // The time of this place's steady clock, in ns, at a number of cycles since its start.
  std::int64_t clock_ns(std::uint64_t cycles) const noexcept;

  // Calls visit(event) for each event of a thread, in order.
  template <class Visit>
  static void for_each_event(const thread& of, Visit visit) {
    for (std::size_t at = 0; at < of.words.size();) {
      const std::uint64_t first = of.words[at];
      const std::uint64_t kind = first & 0xff;
      if (kind == 0 || kind >= trace::event_kinds) return;
      const std::size_t words = trace::event_words[kind];
      if (at + words > of.words.size()) return;
      visit(trace_event{static_cast<trace::event_kind>(kind), first >> 8U, &of.words[at]});
      at += words;
    }
  }

 private:
  std::vector<std::byte> bytes_;
  trace::header header_;
  std::vector<std::string_view> texts_;
  std::vector<thread> threads_;
};

// A spawn site or the line of a call.
struct trace_site {
  std::string_view file;
  std::string_view line;
  std::string_view function;
};
trace_site site_of_text(std::string_view text) noexcept;

}  // namespace apgas::inline v0::launch
