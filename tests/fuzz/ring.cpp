// SPDX-License-Identifier: Apache-2.0

// Writes any bytes and positions into a ring of shared memory, and lets a ring_receiver take them.
// A decoder that was written from the documentation (docs/protocols/wire.md) predicts whether the
// receiver delivers them, and which bytes, or ends the job with a line that names the sender. The
// address sanitizer detects accesses beyond the ring.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <sanitizer/asan_interface.h>
#include <sys/wait.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>

#include "fuzz.hpp"
#include "ring_input.hpp"
#include "ring_receiver.hpp"

namespace apgas_fuzz {
namespace {

using comm::record_kind;
using comm::record_word;

constexpr std::size_t index_of_ring = 1;  // between two others, which nothing may access
constexpr comm::rank source = 7;
constexpr int refused_code = 42;
constexpr std::size_t allocated_most = std::size_t{1} << 20;

struct ring_memory {
  ring_memory() {
    require(why_not.empty(), "the segment can be made");
    for (const std::size_t other : {index_of_ring - 1, index_of_ring + 1}) {
      ASAN_POISON_MEMORY_REGION(segment.memory().ring(other), bytes);
    }
    apgas::base::set_fatal_hooks(nullptr, [](int) { _exit(refused_code); });
  }
  std::byte* ring() const { return segment.memory().ring(index_of_ring); }
  comm::ring_positions& positions() const { return segment.memory().positions(index_of_ring); }

  const std::size_t capacity = comm::ring_capacity(ring_places);
  const std::size_t bytes = capacity + comm::ring_slack;
  std::string why_not;
  comm::own_segment segment{ring_places, why_not};
};

struct bytes_sink final : comm::message_sink {
  void on_message(comm::rank from, comm::buffer message) noexcept override {
    require(from == source, "the source is the sender");
    bytes.insert(bytes.end(), message.data(), message.data() + message.size());
  }
  std::vector<std::byte> bytes;
};

struct dropping_sink final : comm::message_sink {
  void on_message(comm::rank, comm::buffer) noexcept override {}
};

// What a receiver that follows the documentation does with the contents of a ring.
class documented_receiver {
 public:
  documented_receiver(const ring_memory& memory, const ring_input& input, std::uint64_t first)
      : memory_(memory), input_(input), at_(first), end_(first) {}

  // Returns false if the receiver must refuse a record or the position.
  bool look(std::uint64_t position) {
    const std::uint64_t written = position / 8 * 8;
    if (written - at_ > memory_.capacity || written - at_ < end_ - at_) return false;
    end_ = written;
    if (position % 8 == 1 + 2 * (ring_run % 4) && take_copy()) return true;
    while (at_ != end_) {
      const std::byte* const record = memory_.ring() + at_ % memory_.capacity;
      record_word word;
      std::memcpy(&word, record, sizeof word);
      const std::uint64_t bytes = 8 + (std::uint64_t{word.length} + 7) / 8 * 8;
      if (bytes > (16U << 10) || bytes > end_ - at_) return false;
      if (word.position != at_ % memory_.capacity / 8 % 65536) return false;
      if (word.run != ring_run || !take(word, record + 8)) return false;
      at_ += bytes;
    }
    return true;
  }

  std::vector<std::byte> delivered;
  bool large = false;  // there is a message that is legal, but too large for a fuzzer

 private:
  // The frame beside the position, if it is the only record. It begins with the length of its
  // payload.
  bool take_copy() {
    const std::span all = std::as_bytes(std::span(input_.copy));
    std::uint32_t payload = 0;
    std::memcpy(&payload, all.data(), sizeof payload);
    const std::uint64_t frame = 32 + (std::uint64_t{payload} + 7) / 8 * 8;
    if (frame > all.size() || at_ + 8 + frame != end_) return false;
    delivered.insert(delivered.end(), all.begin(),
                     all.begin() + static_cast<std::ptrdiff_t>(frame));
    at_ = end_;
    return true;
  }
  bool take(const record_word& word, const std::byte* content) {
    const std::span all(content, word.length);
    switch (static_cast<int>(word.kind)) {
      case 1:
      case 2:
        delivered.insert(delivered.end(), all.begin(), all.end());
        return true;
      case 3: {
        if (size_ || all.size() < 8) return false;
        std::uint64_t size = 0;
        std::memcpy(&size, content, 8);
        if (size > (std::uint64_t{1} << 30) + 32) return false;
        large |= size > allocated_most;
        size_ = size;
        return more(all.subspan(8));
      }
      case 4:
        return size_ && more(all);
      default:
        return false;
    }
  }
  bool more(std::span<const std::byte> part) {
    if (part.size() > *size_ - message_.size()) return false;
    message_.insert(message_.end(), part.begin(), part.end());
    if (message_.size() != *size_) return true;
    delivered.insert(delivered.end(), message_.begin(), message_.end());
    message_.clear();
    size_.reset();
    return true;
  }

  const ring_memory& memory_;
  const ring_input& input_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::optional<std::uint64_t> size_;
  std::vector<std::byte> message_;
};

// Takes one record after the other up to position `first`, as if a correct sender had written them.
void fill_lap(const ring_memory& memory, comm::ring_receiver& receiver, std::uint64_t first) {
  dropping_sink dropped;
  for (std::uint64_t at = 0; at != first;) {
    const std::uint64_t bytes = std::min<std::uint64_t>(comm::longest_record, first - at);
    const record_word word{.length = static_cast<std::uint32_t>(bytes - sizeof(record_word)),
                           .kind = record_kind::message,
                           .run = ring_run,
                           .position = comm::record_position(at)};
    std::memcpy(memory.ring() + at, &word, sizeof word);
    at += bytes;
    memory.positions().written = at;
    require(receiver.receive(dropped, ring_run, ring_run), "correct records are taken");
  }
}

// Returns whether the calls end the job with a line that names the sender, in a child process.
template <class F>
bool is_refused(F&& calls) {
  int ends[2];
  require(pipe(ends) == 0, "a pipe can be made");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    calls();
    _exit(0);
  }
  close(ends[1]);
  std::string line;
  char part[4096];
  // The timer of libFuzzer interrupts system calls.
  for (ssize_t got; (got = TEMP_FAILURE_RETRY(read(ends[0], part, sizeof part))) > 0;) {
    line.append(part, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  require(TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) == child, "the child ends");
  const bool refused = WIFEXITED(status) && WEXITSTATUS(status) == refused_code &&
                       line.starts_with("apgas: place 7 has written ");
  if (!refused) std::fprintf(stderr, "%s\n", line.c_str());
  return refused;
}

void check(std::span<const std::byte> bytes) {
  static const ring_memory& memory = *new ring_memory;
  ring_input input;
  if (bytes.size() < sizeof input) return;
  std::memcpy(&input, bytes.data(), sizeof input);
  bytes = bytes.subspan(sizeof input);
  const std::uint64_t first = first_position(input);

  static comm::buffer_pool& pool = *new comm::buffer_pool;  // fork() is fast with few allocations
  new (&memory.positions()) comm::ring_positions;
  std::optional<comm::ring_receiver> receiver(std::in_place, memory.segment.memory(), source,
                                              index_of_ring, ring_places, pool);
  fill_lap(memory, *receiver, first);
  // The record at the end of the lap goes on beyond the capacity, and the next one is at the same
  // distance in the next lap.
  std::memset(memory.ring(), 0, memory.bytes);
  const std::size_t lap = std::min(bytes.size(), memory.bytes - first);
  std::memcpy(memory.ring() + first, bytes.data(), lap);
  const std::uint64_t rest = memory.capacity - first;
  if (bytes.size() > rest) {
    std::memcpy(memory.ring(), bytes.data() + rest, std::min(bytes.size() - rest, first));
  }

  for (std::size_t i = 0; i < comm::copied_words; ++i) memory.positions().copy[i] = input.copy[i];

  documented_receiver documented(memory, input, first);
  bool refused = false;
  for (const std::int32_t written : input.written) {
    refused = refused || !documented.look(first + static_cast<std::uint64_t>(written));
  }
  if (documented.large) return;

  bytes_sink sink;
  const auto receive = [&] {
    for (const std::int32_t written : input.written) {
      memory.positions().written = first + static_cast<std::uint64_t>(written);
      while (receiver->receive(sink, ring_run, ring_run)) {
      }
    }
  };
  if (refused) {
    require(is_refused(receive), "a wrong position or record is refused");
    return;
  }
  receive();
  require(sink.bytes == documented.delivered, "all bytes of valid records are delivered");
  receiver.reset();
  require(pool.outstanding() == 0, "all buffers were returned");
}

}  // namespace
}  // namespace apgas_fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  apgas_fuzz::check(apgas_fuzz::input(data, size));
  return 0;
}
