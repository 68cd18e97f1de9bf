// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <queue>
#include <unordered_map>

#include <fmt/format.h>

#include <apgas/version.hpp>

#include "trace_merge.hpp"
#include "track_writer.hpp"

namespace apgas::inline v0::launch {
namespace {

// Writes slices that may overlap in as few rows as possible.
class row_writer {
 public:
  row_writer(int place, std::uint64_t first_row, trace_sink& to)
      : place_(place), next_row_(first_row), to_(to) {}

  // The slices must come ordered by their begin.
  void write(std::uint64_t from, std::uint64_t until, const trace_slice& what) {
    std::uint64_t row = next_row_;
    if (!busy_.empty() && busy_.top().first <= from) {
      row = busy_.top().second;
      busy_.pop();
    } else {
      ++next_row_;
    }
    busy_.emplace(until, row);
    to_.asynchronous(place_, row, from, until, what);
  }

 private:
  using end_and_row = std::pair<std::uint64_t, std::uint64_t>;

  const int place_;
  std::uint64_t next_row_;
  trace_sink& to_;
  std::priority_queue<end_and_row, std::vector<end_and_row>, std::greater<>> busy_;
};

// Numbers the objects of a place from 1 on, by their addresses.
class object_numbers {
 public:
  std::int64_t operator[](std::uint64_t address) {
    return known_.try_emplace(address, std::ssize(known_) + 1).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::int64_t> known_;
};

void write_waits(const place_trace& trace, const place_index& index, object_numbers& objects,
                 trace_sink& to) {
  std::vector<const trace_wait*> ordered;
  ordered.reserve(index.waits.size());
  for (const auto& [number, wait] : index.waits) {
    if (wait.from_ns != 0) ordered.push_back(&wait);
  }
  std::ranges::sort(ordered, {}, &trace_wait::from_ns);
  row_writer rows(trace.place(), 1, to);
  for (const trace_wait* wait : ordered) {
    const bool ended = wait->to_ns != 0;
    const std::uint64_t until = std::max(ended ? wait->to_ns : index.end_ns, wait->from_ns);
    const trace_site where = site_of_text(trace.text(wait->where));
    const std::string call = fmt::format("{}:{}", where.file, where.line);
    const std::string task = fmt::format("{}.{}", trace.place(), wait->task);
    const auto label = index.labels.find(wait->task);
    const trace_site site =
        site_of_text(label == index.labels.end() ? "" : trace.text(label->second >> 32U));
    const std::string spawned = fmt::format("{}:{}", site.file, site.line);
    std::vector<trace_argument> all = {{"task", task}, {"place", std::int64_t{trace.place()}}};
    if (!where.file.empty()) all.push_back({"where", call});
    if (!where.function.empty()) all.push_back({"in", where.function});
    if (!site.file.empty()) all.push_back({"site", spawned});
    if (wait->object != 0) all.push_back({"object", objects[wait->object]});
    if (!ended) all.push_back({"ended", false});
    const std::string_view construct = trace.text(wait->construct);
    rows.write(wait->from_ns, until, {"wait", construct.empty() ? "wait" : construct, all});
  }
}

void write_phases(const place_trace& trace, const place_index& index, object_numbers& objects,
                  trace_sink& to) {
  constexpr std::uint64_t rows_of_waits = std::uint64_t{1} << 20;
  for (const auto& [object, found] : index.phases) {
    const std::int64_t clock = objects[object];
    std::vector<trace_phase_end> ends = found;
    std::ranges::sort(ends, {}, &trace_phase_end::ns);
    const auto begun = index.first_wait_ns.find(object);
    std::uint64_t from = begun == index.first_wait_ns.end() ? ends.front().ns : begun->second;
    std::int64_t phase = 0;
    for (const trace_phase_end& end : ends) {
      const trace_site where = site_of_text(trace.text(end.where));
      const std::string name = fmt::format("phase {}", phase);
      const std::string call = fmt::format("{}:{}", where.file, where.line);
      const trace_argument all[] = {{"clock", clock},
                                    {"phase", phase},
                                    {"place", std::int64_t{trace.place()}},
                                    {"where", call}};
      to.asynchronous(trace.place(), rows_of_waits + static_cast<std::uint64_t>(clock),
                      std::min(from, end.ns), end.ns, {"phase", name, all});
      from = end.ns;
      ++phase;
    }
  }
}

void write_idle_workers(const place_trace& trace, const place_index& index, trace_sink& to) {
  std::int64_t idle = 0;
  for (const auto& [ns, more] : index.searching) {
    idle = std::max<std::int64_t>(0, idle + more);
    to.counter(trace.place(), ns, "idle workers", static_cast<std::uint64_t>(idle));
  }
}

std::string metadata_of(const std::vector<place_trace>& places,
                        const std::vector<clock_offset>& clocks) {
  std::string text = fmt::format(R"({{"apgas":"{}","places":{},"detail":"{}")",
                                 APGAS_VERSION_STRING, places.front().header().places,
                                 places.front().header().only_stolen != 0 ? "stolen" : "all");
  text += R"(,"clocks":[)";
  for (std::size_t p = 0; p < places.size(); ++p) {
    text += fmt::format(R"({}{{"place":{},"offset_ns":{},"error_ns":{}}})", p == 0 ? "" : ",",
                        places[p].place(), clocks[p].offset_ns, clocks[p].error_ns);
  }
  text += R"(],"dropped":[)";
  bool first = true;
  for (const place_trace& each : places) {
    for (std::size_t t = 0; t < each.threads().size(); ++t) {
      if (each.threads()[t].dropped == 0) continue;
      text += fmt::format(R"({}{{"place":{},"worker":{},"events":{}}})", first ? "" : ",",
                          each.place(), t, each.threads()[t].dropped);
      first = false;
    }
  }
  text += R"(],"died":[)";
  first = true;
  for (const place_trace& each : places) {
    if (each.header().complete != 0) continue;
    text += fmt::format("{}{}", first ? "" : ",", each.place());
    first = false;
  }
  return text + "]}";
}

}  // namespace

void merge_traces(const std::vector<place_trace>& places, const std::vector<clock_offset>& clocks,
                  trace_sink& to) {
  const trace_index index(places, clocks);
  for (const place_trace& each : places) {
    to.name_place(each.place(), fmt::format("place {}", each.place()));
    for (std::size_t t = 0; t < each.threads().size(); ++t) {
      const bool is_worker = each.threads()[t].is_worker;
      if (!is_worker && each.threads()[t].words.empty()) continue;
      to.name_track({each.place(), is_worker ? static_cast<int>(t) : -1},
                    is_worker ? fmt::format("worker {}", t) : "other threads");
    }
  }
  for (std::size_t p = 0; p < places.size(); ++p) {
    for (std::size_t t = 0; t < places[p].threads().size(); ++t) {
      track_writer(places, index, p, t, to).write();
    }
    object_numbers objects;
    write_waits(places[p], index.of(p), objects, to);
    write_phases(places[p], index.of(p), objects, to);
    write_idle_workers(places[p], index.of(p), to);
  }
  to.finish(metadata_of(places, clocks));
}

std::vector<std::string> dropped_events(const std::vector<place_trace>& places) {
  std::vector<std::string> lines;
  for (const place_trace& each : places) {
    std::uint64_t events = 0;
    for (const place_trace::thread& t : each.threads()) events += t.dropped;
    if (events == 0) continue;
    lines.push_back(
        fmt::format("the trace leaves out the oldest {} events of place {}; raise "
                    "APGAS_TRACE_MEMORY, or set APGAS_TRACE_DETAIL=stolen",
                    events, each.place()));
  }
  return lines;
}

}  // namespace apgas::inline v0::launch
