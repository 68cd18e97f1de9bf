// SPDX-License-Identifier: Apache-2.0
#pragma once

// The receiving side of a ring: from one place of the host to this place. It checks every record
// before it uses it, and ends the job with a line that names the sender if one cannot be right.
// That guards against mistakes, not against an attacker (docs/security.md).
//
// Context of all members: the thread inside progress().

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <apgas/comm/transport.hpp>

#include "host_segment.hpp"
#include "ring_record.hpp"

namespace apgas::inline v0::comm {

class ring_receiver {
 public:
  // `own` is the segment of this place, and `index` the index of rank `source` on the host.
  ring_receiver(const mapped_segment& own, rank source, std::size_t index, std::size_t places,
                buffer_pool& pool);

  // Whether the ring has records, of this run or of the next one.
  bool filled() noexcept {
    if (!ring_.look()) [[unlikely]]
      refuse("an impossible position");
    return !ring_.empty();
  }
  // Delivers what has arrived in this run, up to about `most_bytes`. Consecutive frames become one
  // message. Returns whether there was anything. `latest_run` is `run + 1` if the sender may have
  // begun the next run, whose records then wait, and otherwise at most `run`.
  bool receive(message_sink& sink, std::uint64_t run, std::uint64_t latest_run) noexcept {
    return filled() && take(sink, run, latest_run);
  }
  // The same. Requires: the last filled() has returned true.
  bool take(message_sink& sink, std::uint64_t run, std::uint64_t latest_run) noexcept {
    return take_single(sink, run) || take_several(sink, run, latest_run);
  }

 private:
  static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 10;
  static constexpr std::size_t most_joined = longest_content;  // of frames in one message
  // The longest record that is taken without a buffer of the pool if it comes alone.
  static constexpr std::size_t single_bytes = buffer_pool::medium_bytes;

  record_word next_word() const noexcept;
  bool take_single(message_sink& sink, std::uint64_t run) noexcept;
  bool take_copy(message_sink& sink) noexcept;
  bool hand_on_single(message_sink& sink, const std::byte* frames, std::size_t length) noexcept;
  void make_single() noexcept;
  bool take_several(message_sink& sink, std::uint64_t run, std::uint64_t latest_run) noexcept;
  bool take_record(message_sink& sink, std::uint64_t run, std::uint64_t latest_run, buffer& frames);
  void take_part(message_sink& sink, const record_word& word, const std::byte* content);
  [[noreturn]] void refuse(const char* what) const noexcept;

  const rank source_;
  const std::string host_;  // of both ranks
  buffer_pool& pool_;
  ring_consumer ring_;
  const std::byte* const bytes_;
  std::optional<reusable_buffer> single_;  // for records that come alone; made for the first one
  std::uint64_t taken_ = 0;                // bytes of records in this call of receive()
  buffer assembled_;                       // a message of which some parts have arrived
  std::uint64_t expected_ = 0;             // its size
};

}  // namespace apgas::inline v0::comm
