// SPDX-License-Identifier: Apache-2.0

// Passes a message to endpoint::on_message. A decoder that was written from the documentation
// (docs/protocols/wire.md) predicts the frames. The received frames are then sent and must arrive
// again.

#include <cstring>
#include <vector>

#include <apgas/comm/endpoint.hpp>

#include "frames.hpp"
#include "loopback.hpp"

namespace apgas_fuzz {
namespace {

using comm::frame_header;
using comm::frame_kind;

void thunk() {}

// The checksum of a header as documented, bit by bit.
std::uint16_t documented_check(frame_header header) {
  header.check = 0;
  std::uint64_t words[4];
  std::memcpy(words, &header, sizeof words);
  std::uint64_t constant = 0x6170'6761'7332'3032;
  std::uint16_t check = 0;
  for (; constant != 0; constant >>= 16) check ^= static_cast<std::uint16_t>(constant);
  for (unsigned bit = 0; bit < 256; ++bit) {
    const unsigned word = bit / 64;
    if ((words[word] >> bit % 64 & 1) != 0) {
      check ^= static_cast<std::uint16_t>(1U << (bit % 64 + word) % 16);
    }
  }
  return check;
}

struct frame {
  frame_header header;
  std::vector<std::byte> payload;

  friend bool operator==(const frame& a, const frame& b) {
    return std::memcmp(&a.header, &b.header, sizeof a.header) == 0 && a.payload == b.payload;
  }
};

// Whether this is a list of tasks: 8 bytes, elements that are padded to a multiple of 8 and have 8
// bytes at least, and their number and length.
bool documented_list(std::span<const std::byte> payload) {
  std::uint32_t list[2] = {};
  if (payload.size() < 24 || payload.size() % 8 != 0) return false;
  std::memcpy(list, payload.data() + payload.size() - sizeof list, sizeof list);
  const std::uint64_t words = list[1] == 0 ? 1 : (std::uint64_t{list[1]} + 7) / 8;
  return list[0] != 0 && (payload.size() - 16) / 8 / list[0] == words &&
         (payload.size() - 16) / 8 % list[0] == 0;
}

// The frames before the first malformed one. Sets `bad` if there is one.
std::vector<frame> documented_frames(std::span<const std::byte> message, bool& bad) {
  std::vector<frame> frames;
  for (bad = true; !message.empty();) {
    frame next;
    if (message.size() < sizeof next.header) return frames;
    std::memcpy(&next.header, message.data(), sizeof next.header);
    if (documented_check(next.header) != next.header.check) return frames;
    const auto kind = static_cast<unsigned>(next.header.kind);
    if (kind < 1 || kind > 5) return frames;
    message = message.subspan(sizeof next.header);
    const std::size_t end = (std::size_t{next.header.length} + 7) / 8 * 8;
    if (end > message.size()) return frames;
    const bool of_tasks = kind == 1 || kind == 5;
    if (of_tasks && next.header.handler != comm::id_of<thunk>()) return frames;
    if (kind == 5 && !documented_list(message.first(next.header.length))) return frames;
    next.payload.assign(message.begin(), message.begin() + next.header.length);
    frames.push_back(std::move(next));
    message = message.subspan(end);
  }
  bad = false;
  return frames;
}

// Keeps every frame as a task would: by a reference to its buffer, with a copy when the message has
// ended.
class keeping_sink final : public comm::frame_sink {
 public:
  void on_frame(const comm::inbound_frame& f) noexcept override {
    require(f.source == 0, "the source is the sender");
    require(f.payload.size() == f.header->length, "a payload has the length that its header says");
    require(reinterpret_cast<std::uintptr_t>(f.payload.data()) % 8 == 0, "payloads are aligned");
    require((f.handler != nullptr) ==
                (f.header->kind == frame_kind::task || f.header->kind == frame_kind::tasks),
            "only frames of tasks have a handler");
    frame_header other = *f.header;  // differs in one byte
    reinterpret_cast<unsigned char*>(&other)[f.header->credit % sizeof other] ^=
        static_cast<unsigned char>(f.header->finish % 255 + 1);
    require(documented_check(other) != other.check, "a changed byte is detected");
    f.keep();
    kept_.push_back(f);
  }
  void on_message_end() noexcept override {
    for (const comm::inbound_frame& f : kept_) {
      frames.push_back({*f.header, {f.payload.begin(), f.payload.end()}});
      f.owner->release();
    }
    kept_.clear();
  }
  void on_bad_message(comm::rank, const std::string& what) noexcept override {
    require(!what.empty(), "a bad message has a reason");
    ++bad;
  }

  std::vector<frame> frames;
  int bad = 0;

 private:
  std::vector<comm::inbound_frame> kept_;
};

struct world {
  comm::buffer_pool pool;
  loopback network{pool};
  keeping_sink sink;
  comm::endpoint end{network, sink};

  world() { end.wait_ready(); }

  std::vector<frame> receive() {
    sink.frames.clear();
    while (end.progress()) {
    }
    return sink.frames;
  }
};

// The id of a thunk differs between builds, so the inputs contain task_in_corpus instead.
void name_the_thunk(comm::buffer& message) {
  frame_header header;
  for (std::size_t at = 0; message.size() - at >= sizeof header;) {
    std::memcpy(&header, message.data() + at, sizeof header);
    if (header.handler == task_in_corpus && documented_check(header) == header.check) {
      header.handler = comm::id_of<thunk>();
      header.check = documented_check(header);
      std::memcpy(message.data() + at, &header, sizeof header);
    }
    if (comm::frame_bytes(header.length) > message.size() - at) return;
    at += comm::frame_bytes(header.length);
  }
}

void check(std::span<const std::byte> bytes) {
  static world& all = *new world;
  comm::buffer message(bytes.size());
  if (!bytes.empty()) std::memcpy(message.data(), bytes.data(), bytes.size());
  message.resize(bytes.size());
  name_the_thunk(message);
  bool bad = false;
  const std::vector<frame> expected = documented_frames({message.data(), message.size()}, bad);

  all.sink.bad = 0;
  std::vector<frame> received;
  {
    const bounded_memory bound(4096 + 32 * bytes.size());
    all.network.post(0, std::move(message));
    received = all.receive();
  }
  require(all.sink.bad == (bad ? 1 : 0), "a message is refused exactly if a header is malformed");
  require(received == expected, "the frames before a malformed header arrive as they were sent");

  for (const frame& f : received) all.end.send(0, f.header, f.payload);
  all.end.flush();
  require(all.receive() == expected, "frames that are sent again arrive");
  require(all.sink.bad == (bad ? 1 : 0), "frames that are sent again are not refused");
  require(all.pool.outstanding() == 0, "all buffers were returned");
}

}  // namespace
}  // namespace apgas_fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  apgas_fuzz::check(apgas_fuzz::input(data, size));
  return 0;
}
