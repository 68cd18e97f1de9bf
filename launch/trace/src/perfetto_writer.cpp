// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <string>
#include <unordered_set>

#include <apgas/base/utf8.hpp>

#include "trace_writer.hpp"

// Perfetto's own format: a sequence of packets, which are protocol buffers. Only the few messages
// that a trace of this library needs are written here; the numbers of their fields are those of
// Perfetto's trace_packet.proto, track_descriptor.proto, track_event.proto and interned_data.proto.
namespace apgas::inline v0::launch {
namespace {

// A message that is being written.
class proto_message {
 public:
  void number(unsigned field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
  }
  void fixed64(unsigned field, std::uint64_t value) {
    varint(field << 3U | 1U);
    for (unsigned i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> 8U * i));
  }
  void text(unsigned field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    bytes_.append(value);
  }
  void message(unsigned field, const proto_message& value) { text(field, value.bytes_); }
  bool empty() const noexcept { return bytes_.empty(); }
  const std::string& bytes() const noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7U) bytes_.push_back(static_cast<char>(value | 128U));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

class perfetto_writer final : public trace_sink {
 public:
  explicit perfetto_writer(trace_stream& to) : to_(to) {}

  void name_place(int place, std::string_view name) override {
    proto_message process;
    process.number(1, static_cast<std::uint64_t>(pid(place)));
    process.text(6, name);
    proto_message track;
    track.number(1, uuid_of(place));
    track.message(3, process);
    describe(track);
  }

  void name_track(trace_track track, std::string_view name) override {
    proto_message thread;
    thread.number(1, static_cast<std::uint64_t>(pid(track.place)));
    thread.number(2, static_cast<std::uint64_t>(tid(track)));
    thread.text(5, name);
    proto_message descriptor;
    descriptor.number(1, uuid_of(track));
    descriptor.number(5, uuid_of(track.place));
    descriptor.message(4, thread);
    describe(descriptor);
  }

  void begin(trace_track track, std::uint64_t ns, const trace_slice& what) override {
    slice_begins(uuid_of(track), ns, what, type_begin);
  }

  void end(trace_track track, std::uint64_t ns, std::string_view,
           trace_arguments arguments) override {
    proto_message event;
    event.number(9, type_end);
    event.number(11, uuid_of(track));
    annotate(event, arguments);
    write(ns, event);
  }

  void asynchronous(int place, std::uint64_t row, std::uint64_t from_ns, std::uint64_t to_ns,
                    const trace_slice& what) override {
    const std::uint64_t uuid = uuid_of(place) + row_base + row;
    if (rows_.insert(uuid).second) {
      proto_message track;
      track.number(1, uuid);
      track.text(2, what.category == "phase" ? "phases" : "waits");
      track.number(5, uuid_of(place));
      describe(track);
    }
    slice_begins(uuid, from_ns, what, type_begin);
    proto_message event;
    event.number(9, type_end);
    event.number(11, uuid);
    write(to_ns, event);
  }

  void instant(trace_track track, std::uint64_t ns, const trace_slice& what) override {
    slice_begins(uuid_of(track), ns, what, type_instant);
  }

  // An arrow leaves and reaches an instant.
  void flow(trace_track track, std::uint64_t ns, std::string_view name, std::uint64_t number,
            bool begins) override {
    proto_message event;
    event.number(9, type_instant);
    event.number(11, uuid_of(track));
    event.number(3, interned(1, "flow"));
    event.number(10, interned(2, name));
    event.fixed64(begins ? 47 : 48, number);
    write(ns, event);
  }

  void counter(int place, std::uint64_t ns, std::string_view name, std::uint64_t value) override {
    const std::uint64_t uuid = uuid_of(place) + counter_base + interned(2, name);
    if (rows_.insert(uuid).second) {
      proto_message track;
      track.number(1, uuid);
      track.text(2, name);
      track.number(5, uuid_of(place));
      track.message(8, {});
      describe(track);
    }
    proto_message event;
    event.number(9, type_counter);
    event.number(11, uuid);
    event.number(30, value);
    write(ns, event);
  }

  // The metadata are the argument of an instant on the track of place 0.
  void finish(const std::string& metadata) override {
    proto_message event;
    event.number(9, type_instant);
    event.number(11, uuid_of(0));
    event.text(23, "metadata");
    event.text(22, "metadata");
    const trace_argument all[] = {{"apgas", std::string_view(metadata)}};
    annotate(event, all);
    write(0, event);
    flush();
  }

 private:
  enum event_type : std::uint8_t {
    type_begin = 1,
    type_end = 2,
    type_instant = 3,
    type_counter = 4,
  };
  static constexpr std::uint64_t row_base = std::uint64_t{1} << 24;
  static constexpr std::uint64_t counter_base = std::uint64_t{1} << 39;
  static constexpr int other_threads = 1000;
  static constexpr std::size_t flushed_bytes = std::size_t{1} << 16;

  static int pid(int place) { return place + 1; }
  static int tid(trace_track track) { return track.thread < 0 ? other_threads : track.thread + 1; }
  static std::uint64_t uuid_of(int place) { return static_cast<std::uint64_t>(pid(place)) << 40U; }
  static std::uint64_t uuid_of(trace_track track) {
    return uuid_of(track.place) + static_cast<std::uint64_t>(tid(track));
  }

  // Returns the number of a text, and adds it to the packet that is written next if it is new.
  // `field` is that of InternedData.
  std::uint64_t interned(unsigned field, std::string_view text) {
    auto& known = known_[field];
    const auto found = known.find(text);
    if (found != known.end()) return found->second;
    const std::uint64_t number = known.size() + 1;
    known.emplace(text, number);
    proto_message entry;
    entry.number(1, number);
    std::string valid;
    entry.text(2, base::as_utf8(text, valid));
    fresh_.message(field, entry);
    return number;
  }

  void slice_begins(std::uint64_t uuid, std::uint64_t ns, const trace_slice& what,
                    event_type type) {
    proto_message event;
    event.number(9, type);
    event.number(11, uuid);
    event.number(3, interned(1, what.category));
    event.number(10, interned(2, what.name));
    annotate(event, what.arguments);
    write(ns, event);
  }

  // Whether few texts stand behind this key.
  static bool recurs(std::string_view key) {
    return key != "task" && key != "parent" && key != "apgas";
  }

  void annotate(proto_message& event, trace_arguments arguments) {
    for (const trace_argument& a : arguments) {
      proto_message annotation;
      annotation.number(1, interned(3, a.key));
      if (const auto* text = std::get_if<std::string_view>(&a.value)) {
        if (recurs(a.key)) {
          annotation.number(17, interned(29, *text));
        } else {
          annotation.text(6, *text);
        }
      } else if (const auto* number = std::get_if<std::int64_t>(&a.value)) {
        annotation.number(4, static_cast<std::uint64_t>(*number));
      } else {
        annotation.number(2, std::get<bool>(a.value) ? 1 : 0);
      }
      event.message(4, annotation);
    }
  }

  void describe(const proto_message& track) {
    proto_message packet;
    packet.message(60, track);
    add(packet);
  }

  void write(std::uint64_t ns, const proto_message& event) {
    proto_message packet;
    packet.number(8, ns);
    packet.message(11, event);
    if (!fresh_.empty()) packet.message(12, fresh_);
    fresh_.clear();
    add(packet);
  }

  void add(proto_message& packet) {
    packet.number(10, 1);                        // trusted_packet_sequence_id
    packet.number(13, started_ ? 2U : 1U | 2U);  // sequence_flags: the first one clears the state
    started_ = true;
    out_.message(1, packet);
    if (out_.bytes().size() >= flushed_bytes) flush();
  }
  void flush() {
    to_.write(out_.bytes().data(), out_.bytes().size());
    out_.clear();
  }

  trace_stream& to_;
  proto_message out_;
  proto_message fresh_;
  std::map<unsigned, std::map<std::string, std::uint64_t, std::less<>>> known_;
  std::unordered_set<std::uint64_t> rows_;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<trace_sink> make_perfetto_writer(trace_stream& to) {
  return std::make_unique<perfetto_writer>(to);
}

std::unique_ptr<trace_sink> make_trace_writer(const std::string& path, trace_stream& to) {
  return path.ends_with(".pftrace") ? make_perfetto_writer(to) : make_json_writer(to);
}

}  // namespace apgas::inline v0::launch
