// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory through which the places of one host send to a place. Each place owns one segment, and
// the other places map it. It contains a ring for each place of the host, for the records that this
// place sends to the owner.
//
//   segment_header                  one page or more
//   rings, one for each sender      `capacity` bytes and ring_slack bytes
//   shared area                     shared_area_bytes, written by the owner and read by all
//
// A segment is a memfd without a name, so nothing remains of it when the last process ends, however
// it ends. It is sealed: no process can change its size, so that accesses of others would raise
// SIGBUS. Its pages use no memory until a ring is used. Other places open it, and the pipe that
// wakes the owner, as /proc/<pid>/fd/<n>. The kernel permits that to processes of the same user in
// the same pid namespace; between all others, messages take another transport. Places of one
// process use the owner's mapping: ThreadSanitizer orders accesses by their addresses, and could
// not know that two addresses are the same memory.
//
// Memory: 4 KiB for up to 13 places on the host and 4 KiB for each further 16, plus, for each
// sender that has sent something, at most capacity + ring_slack bytes. The capacity is 256 KiB for
// up to 64 places on the host, and less for more places, so that the rings of up to 512 places have
// at most 25 MiB. The shared area has 4 MiB, of which memory is used where the owner has written.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <apgas/comm/rank.hpp>

#include "ring.hpp"
#include "sleep_flag.hpp"

namespace apgas::inline v0::comm {

// The longest record, with its word; longer messages are sent as several records.
inline constexpr std::size_t longest_record = std::size_t{16} << 10;
inline constexpr std::size_t ring_slack = longest_record;
inline constexpr std::size_t shared_area_bytes = std::size_t{4} << 20;

// The capacity of a ring in bytes, a power of two, if the host has that many places.
std::size_t ring_capacity(std::size_t places) noexcept;
// The size of a segment.
std::size_t segment_bytes(std::size_t places) noexcept;

// What another process needs to map a segment and to wake its owner.
// Wire: part of the record that ranks exchange before a run.
struct segment_offer {
  std::uint64_t process = 0;    // the pid of the owner; 0: it offers no segment
  std::uint64_t nonce[2] = {};  // that the header must contain
  std::uint32_t memory = 0;     // number of the file descriptor of the segment
  std::uint32_t wakes = 0;      // number of the file descriptor of the writing end of the pipe

  friend bool operator==(const segment_offer&, const segment_offer&) = default;
};

struct segment_header {
  char magic[8] = {'a', 'p', 'g', 'a', 's', 'r', 0, 0};
  std::uint64_t nonce[2] = {};
  alignas(64) sleep_flag sleeping;
  // One bit for each sender, by its index on the host: whether it has sent anything.
  static constexpr std::size_t senders_max = 4096;
  alignas(64) base::atomic<std::uint64_t> senders[senders_max / 64] = {};
};
static_assert(sizeof(segment_header) % alignof(ring_positions) == 0);  // they follow it

// A mapping of a segment, the owner's or another place's.
class mapped_segment {
 public:
  mapped_segment() noexcept = default;
  mapped_segment(mapped_segment&& other) noexcept;
  mapped_segment& operator=(mapped_segment&& other) noexcept;
  ~mapped_segment();

  explicit operator bool() const noexcept { return memory_ != nullptr; }
  segment_header& header() const noexcept { return *reinterpret_cast<segment_header*>(memory_); }
  // The ring of the sender with this index on the host.
  ring_positions& positions(std::size_t sender) const noexcept;
  std::byte* ring(std::size_t sender) const noexcept;
  std::span<std::byte> shared_area() const noexcept;
  // Wakes the owner if it has announced that it sleeps.
  // Context: any thread that has published a record.
  void wake_owner() const noexcept {
    if (header().sleeping.take()) write_to_pipe();
  }

 private:
  friend class own_segment;
  friend mapped_segment map_segment(const segment_offer& offer, std::size_t places,
                                    std::string& why_not);

  bool map(int file, std::size_t places);
  void use(std::shared_ptr<std::byte> mapping, std::size_t places) noexcept;
  void write_to_pipe() const noexcept;

  std::shared_ptr<std::byte> mapping_;  // several if the places share a process
  std::byte* memory_ = nullptr;         // in mapping_
  std::size_t places_ = 0;
  int pipe_ = -1;  // its writing end
};

// The segment of this place.
class own_segment {
 public:
  // Makes the segment of a place on a host with that many places. If that is impossible, offer()
  // has no process, and `why_not` has the reason.
  own_segment(std::size_t places, std::string& why_not);
  own_segment(const own_segment&) = delete;
  own_segment& operator=(const own_segment&) = delete;
  ~own_segment();

  const segment_offer& offer() const noexcept { return offer_; }
  const mapped_segment& memory() const noexcept { return memory_; }
  // A descriptor that is readable after another place has woken this one, until the next
  // empty_pipe().
  int descriptor() const noexcept { return reading_end_; }
  void empty_pipe() const noexcept;
  // After all places of the host have mapped the segment. Only a process with the privilege to open
  // /proc/<pid>/map_files can open it from then on.
  void close_file() noexcept;

 private:
  bool make(std::size_t places);

  segment_offer offer_;
  mapped_segment memory_;
  int file_ = -1;
  int reading_end_ = -1;
};

// Maps the segment of another place, which must have been made for that many places. Returns an
// empty mapping if that is impossible, with the reason in `why_not`.
mapped_segment map_segment(const segment_offer& offer, std::size_t places, std::string& why_not);

}  // namespace apgas::inline v0::comm
