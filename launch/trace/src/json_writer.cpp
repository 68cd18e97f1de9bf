// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <string>

#include <fmt/format.h>

#include <apgas/base/utf8.hpp>

#include "trace_writer.hpp"

// The Trace Event Format, with one event on each line. docs/debugging/trace.md lists the events.
namespace apgas::inline v0::launch {
namespace {

class json_writer final : public trace_sink {
 public:
  explicit json_writer(trace_stream& to) : to_(to) {
    add(R"({{"displayTimeUnit":"ns","traceEvents":[)");
  }

  void name_place(int place, std::string_view name) override {
    next();
    add(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":)", pid(place));
    string(name);
    add("}}}}");
    next();
    add(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})",
        pid(place), place);
  }

  void name_track(trace_track track, std::string_view name) override {
    next();
    add(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":)", pid(track.place),
        tid(track));
    string(name);
    add("}}}}");
    next();
    add(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
        pid(track.place), tid(track), track.thread);
  }

  void begin(trace_track track, std::uint64_t ns, const trace_slice& what) override {
    next();
    add(R"({{"ph":"B","pid":{},"tid":{},"ts":)", pid(track.place), tid(track));
    time(ns);
    describe(what);
  }

  void end(trace_track track, std::uint64_t ns, std::string_view category,
           trace_arguments arguments) override {
    next();
    add(R"({{"ph":"E","pid":{},"tid":{},"cat":"{}","ts":)", pid(track.place), tid(track), category);
    time(ns);
    add_arguments(arguments);
    add("}}");
  }

  void asynchronous(int place, std::uint64_t row, std::uint64_t from_ns, std::uint64_t to_ns,
                    const trace_slice& what) override {
    next();
    add(R"({{"ph":"b","pid":{},"tid":{},"id2":{{"local":"{:#x}"}},"ts":)", pid(place), 1, row);
    time(from_ns);
    describe(what);
    next();
    add(R"({{"ph":"e","pid":{},"tid":{},"id2":{{"local":"{:#x}"}},"ts":)", pid(place), 1, row);
    time(to_ns);
    describe({what.category, what.name, {}});
  }

  void instant(trace_track track, std::uint64_t ns, const trace_slice& what) override {
    next();
    add(R"({{"ph":"i","s":"t","pid":{},"tid":{},"ts":)", pid(track.place), tid(track));
    time(ns);
    describe(what);
  }

  void flow(trace_track track, std::uint64_t ns, std::string_view name, std::uint64_t number,
            bool begins) override {
    next();
    add(R"({{"ph":"{}",{}"pid":{},"tid":{},"id":"{:#x}","ts":)", begins ? 's' : 'f',
        begins ? "" : R"("bp":"e",)", pid(track.place), tid(track), number);
    time(ns);
    describe({"flow", name, {}});
  }

  void counter(int place, std::uint64_t ns, std::string_view name, std::uint64_t value) override {
    next();
    add(R"({{"ph":"C","pid":{},"tid":0,"name":"{}","ts":)", pid(place), name);
    time(ns);
    add(R"(,"args":{{"value":{}}}}})", value);
  }

  void finish(const std::string& metadata) override {
    add("\n],\"metadata\":");
    out_.append(metadata);
    add("}}\n");
    flush();
  }

 private:
  static constexpr std::size_t flushed_bytes = std::size_t{1} << 16;
  static constexpr int other_threads = 1000;

  static int pid(int place) { return place + 1; }
  static int tid(trace_track track) { return track.thread < 0 ? other_threads : track.thread + 1; }

  template <class... Values>
  void add(fmt::format_string<Values...> text, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Values>(values)...);
  }
  void next() {
    if (out_.size() >= flushed_bytes) flush();
    out_.append(std::string_view(first_ ? "\n" : ",\n"));
    first_ = false;
  }
  void flush() {
    to_.write(out_.data(), out_.size());
    out_.clear();
  }
  void time(std::uint64_t ns) { add("{}.{:03}", ns / 1000, ns % 1000); }
  void string(std::string_view text) {
    out_.push_back('"');
    for (const char c : base::as_utf8(text, valid_)) {
      if (c == '"' || c == '\\') out_.push_back('\\');
      out_.push_back(static_cast<unsigned char>(c) < ' ' ? ' ' : c);
    }
    out_.push_back('"');
  }
  void add_arguments(trace_arguments arguments) {
    if (arguments.empty()) return;
    add(R"(,"args":{{)");
    bool first = true;
    for (const trace_argument& a : arguments) {
      add(R"({}"{}":)", first ? "" : ",", a.key);
      first = false;
      if (const auto* text = std::get_if<std::string_view>(&a.value)) {
        string(*text);
      } else if (const auto* number = std::get_if<std::int64_t>(&a.value)) {
        add("{}", *number);
      } else {
        add("{}", std::get<bool>(a.value));
      }
    }
    add("}}");
  }
  // The rest of an event.
  void describe(const trace_slice& what) {
    add(R"(,"cat":"{}","name":)", what.category);
    string(what.name);
    add_arguments(what.arguments);
    add("}}");
  }

  trace_stream& to_;
  fmt::memory_buffer out_;
  std::string valid_;  // of a text that is no UTF-8
  bool first_ = true;
};

}  // namespace

std::unique_ptr<trace_sink> make_json_writer(trace_stream& to) {
  return std::make_unique<json_writer>(to);
}

}  // namespace apgas::inline v0::launch
