// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/option.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/log.hpp>
#include <apgas/base/parse.hpp>

namespace apgas::inline v0::base {
namespace {

[[noreturn]] void refuse(const option& o, std::string_view value) {
  throw std::invalid_argument(
      fmt::format("{}={}: expected {} ({})", o.name, value, o.accepted, o.help));
}

// The setters. Their template parameters are the member that they set and its limits.
template <auto Member, long Low, long High>
void set_integer(settings& target, const option& o, std::string_view value) {
  auto parsed = parse_integer(value, Low, High);
  if (!parsed) refuse(o, value);
  target.*Member = static_cast<int>(*parsed);
}

template <auto Member, std::size_t Low, std::size_t High>
void set_bytes(settings& target, const option& o, std::string_view value) {
  auto parsed = parse_bytes(value, Low, High);
  if (!parsed) refuse(o, value);
  target.*Member = *parsed;
}

template <class Choice, std::size_t Count>
using choice_names = std::array<std::pair<std::string_view, Choice>, Count>;
constexpr choice_names<transport_choice, 5> transports{{{"auto", transport_choice::automatic},
                                                        {"shm", transport_choice::shm},
                                                        {"ucx", transport_choice::ucx},
                                                        {"mpi", transport_choice::mpi},
                                                        {"local", transport_choice::local}}};
constexpr choice_names<bind_choice, 3> bindings{
    {{"auto", bind_choice::automatic}, {"core", bind_choice::core}, {"none", bind_choice::none}}};

constexpr choice_names<progress_choice, 2> progress_names{
    {{"workers", progress_choice::workers}, {"thread", progress_choice::thread}}};

constexpr choice_names<deadlock_choice, 4> deadlock_names{{{"auto", deadlock_choice::automatic},
                                                           {"abort", deadlock_choice::abort},
                                                           {"report", deadlock_choice::report},
                                                           {"off", deadlock_choice::off}}};

constexpr choice_names<bool, 2> on_or_off{{{"on", true}, {"off", false}}};

constexpr choice_names<trace_detail_choice, 2> trace_details{
    {{"all", trace_detail_choice::all}, {"stolen", trace_detail_choice::stolen}}};

constexpr choice_names<one_sided_choice, 2> one_sided_names{
    {{"direct", one_sided_choice::direct}, {"messages", one_sided_choice::messages}}};

template <auto Member, const auto& Names>
void set_choice(settings& target, const option& o, std::string_view value) {
  auto found = std::ranges::find(Names, value, [](auto& entry) { return entry.first; });
  if (found == Names.end()) refuse(o, value);
  target.*Member = found->second;
}

template <auto Member, const auto& Names>
std::string show_choice(const settings& s) {
  auto found = std::ranges::find(Names, s.*Member, [](auto& entry) { return entry.second; });
  return std::string(found->first);
}

bool names_file(std::string_view value) {
  return !value.empty() && !value.starts_with('-') && !value.ends_with('/');
}

constexpr std::string_view json_prefix = "json:";

void set_stats(settings& target, const option& o, std::string_view value) {
  target.stats = false;
  target.stats_file.clear();
  if (value.starts_with(json_prefix)) {
    const std::string_view path = value.substr(json_prefix.size());
    if (!names_file(path)) refuse(o, value);
    target.stats_file = path;
    return;
  }
  auto parsed = parse_flag(value);
  if (!parsed) refuse(o, value);
  target.stats = *parsed;
}

std::string show_stats(const settings& s) {
  if (!s.stats_file.empty()) return std::string(json_prefix) + s.stats_file;
  return s.stats ? "1" : "0";
}

void set_seed(settings& target, const option& o, std::string_view value) {
  auto parsed = parse_integer(value, 0, std::numeric_limits<long>::max());
  if (!parsed) refuse(o, value);
  target.seed = static_cast<std::uint64_t>(*parsed);
}

void set_trace(settings& target, const option& o, std::string_view value) {
  if (!names_file(value)) refuse(o, value);
  target.trace = value;
}

void set_trail(settings& target, const option& o, std::string_view value) {
  target.trail = value != "0";
  target.trail_file.clear();
  if (value == "0" || value == "1") return;
  if (!names_file(value) || parse_integer(value, 0, std::numeric_limits<long>::max())) {
    refuse(o, value);
  }
  target.trail_file = value;
}

std::string show_trail(const settings& s) {
  if (!s.trail_file.empty()) return s.trail_file;
  return s.trail ? "1" : "0";
}

constexpr std::string_view span_profile_name = "span";

void set_profile(settings& target, const option& o, std::string_view value) {
  target.profile_span = value.starts_with(span_profile_name);
  target.profile_file.clear();
  if (value == "off" || value == span_profile_name) return;
  const std::string prefix = fmt::format("{}:{}", span_profile_name, json_prefix);
  if (!value.starts_with(prefix) || !names_file(value.substr(prefix.size()))) refuse(o, value);
  target.profile_file = value.substr(prefix.size());
}

std::string show_profile(const settings& s) {
  if (!s.profile_span) return "off";
  if (s.profile_file.empty()) return std::string(span_profile_name);
  return fmt::format("{}:{}{}", span_profile_name, json_prefix, s.profile_file);
}

// A port, or an address, a colon and a port. Whether the address is one of this host turns out when
// place 0 listens there.
void set_metrics(settings& target, const option& o, std::string_view value) {
  const std::size_t colon = value.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? value : value.substr(colon + 1);
  if (colon == 0 || !parse_integer(port, 1, 65535)) refuse(o, value);
  target.metrics = value;
}

void set_interface(settings& target, const option& o, std::string_view value) {
  constexpr std::size_t longest = 64;
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/-";
  const bool is_name = value.find_first_not_of(letters) == std::string_view::npos;
  if (value.empty() || value.size() > longest || value[0] == '-' || !is_name) refuse(o, value);
  target.interface = value;
}

template <auto Member>
std::string show_integer(const settings& s) {
  return std::to_string(s.*Member);
}

template <auto Member>
std::string show_count(const settings& s) {
  return s.*Member == 0 ? "automatic" : std::to_string(s.*Member);
}

template <auto Member>
std::string show_size(const settings& s) {
  return show_bytes(s.*Member);
}

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = kib * kib;
constexpr std::size_t gib = kib * mib;

constexpr auto table = std::to_array<option>({
    {"APGAS_PLACES", "places", "a whole number from 1 to 65536",
     "number of places, unless a launcher sets it", set_integer<&settings::places, 1, 65536>,
     show_count<&settings::places>},
    {"APGAS_WORKERS", "workers", "a whole number from 1 to 1024",
     "worker threads of each place; unset: one for each of its cores",
     set_integer<&settings::workers, 1, 1024>, show_count<&settings::workers>},
    {"APGAS_TRANSPORT", "", "auto, shm, ucx, mpi or local",
     "how places communicate: shm within a host and ucx or mpi between hosts, or ucx, mpi or local "
     "alone",
     set_choice<&settings::transport, transports>, show_choice<&settings::transport, transports>},
    {"APGAS_STACK_SIZE", "bytes", "a size from 64K to 1G, such as 256K or 8M",
     "stack size of a task; takes only address space until it is used",
     set_bytes<&settings::stack_bytes, 64 * kib, gib>, show_size<&settings::stack_bytes>},
    {"APGAS_BIND", "", "auto, core or none", "whether worker threads are bound to cores",
     set_choice<&settings::bind, bindings>, show_choice<&settings::bind, bindings>},
    {"APGAS_IDLE", "us", "a whole number of microseconds from 0 to 1000000",
     "how long a worker searches for work before it sleeps",
     set_integer<&settings::idle_us, 0, 1'000'000>, show_integer<&settings::idle_us>},
    {"APGAS_PROGRESS", "", "workers or thread",
     "what polls the network: the workers between tasks, or a dedicated thread as well",
     set_choice<&settings::progress, progress_names>,
     show_choice<&settings::progress, progress_names>},
    {"APGAS_FINISH_TREE", "places", "a whole number from 2 to 65536",
     "from this number of places on, ended tasks are reported along the tree of their spawns",
     set_integer<&settings::finish_tree_places, 2, 65536>,
     show_integer<&settings::finish_tree_places>},
    {"APGAS_ONE_SIDED", "", "direct or messages",
     "how rput, rget, copy and long arguments of at access other places: directly, or by messages",
     set_choice<&settings::one_sided, one_sided_names>,
     show_choice<&settings::one_sided, one_sided_names>},
    {"APGAS_TEAM_WARNING", "s", "a whole number of seconds from 0 to 86400",
     "how long collectives of two teams may wait for each other before a warning; 0: no warning",
     set_integer<&settings::team_warning_s, 0, 86400>, show_integer<&settings::team_warning_s>},
    {"APGAS_HEARTBEAT", "s", "a whole number of seconds from 0 to 86400",
     "a place without a heartbeat for this long has failed: the job ends; 0: off, for debuggers",
     set_integer<&settings::heartbeat_s, 0, 86'400>, show_integer<&settings::heartbeat_s>},
    {"APGAS_WATCHDOG", "s", "a whole number of seconds from 0 to 86400",
     "if no task runs at any place for this long, print what all tasks wait for; 0: never",
     set_integer<&settings::watchdog_s, 0, 86'400>, show_integer<&settings::watchdog_s>},
    {"APGAS_DEADLOCK", "", "auto, abort, report or off",
     "if no task can ever run again: end with code 124, or only say so; auto: abort if "
     "APGAS_WATCHDOG is set",
     set_choice<&settings::deadlock, deadlock_names>,
     show_choice<&settings::deadlock, deadlock_names>},
    {"APGAS_CONTROL", "", "on or off",
     "whether apgas-ps and apgas-top of the same user can look at the running program",
     set_choice<&settings::control, on_or_off>, show_choice<&settings::control, on_or_off>},
    {"APGAS_SEED", "", "a whole number from 0 to 9223372036854775807",
     "run the workers of one process in turns, in an order that this number determines", set_seed,
     [](const settings& s) { return s.seed ? std::to_string(*s.seed) : ""; }},
    {"APGAS_INTERFACE", "", "an interface, an address or a network, such as eth0 or 10.0.0.0/24",
     "where place 0 accepts the failure detectors of other hosts", set_interface,
     [](const settings& s) { return s.interface.empty() ? "automatic" : s.interface; }},
    {"APGAS_STATS", "", "1, 0 or json: and the path of a file to write",
     "print where places are, their cores, and statistics at the end, or write these to a file",
     set_stats, show_stats},
    {"APGAS_METRICS", "", "a port such as 9100, or an address and a port such as 0.0.0.0:9100",
     "place 0 serves the statistics of all places at /metrics, in the text format of Prometheus",
     set_metrics, [](const settings& s) { return s.metrics; }},
    {"APGAS_TRACE", "", "the path of a file to write",
     "write what all workers did and when, for Perfetto: as JSON, or .pftrace in its own format",
     set_trace, [](const settings& s) { return s.trace; }},
    {"APGAS_TRACE_DETAIL", "", "all or stolen",
     "the tasks in a trace: all, or only those that the frame which spawned them did not run",
     set_choice<&settings::trace_detail, trace_details>,
     show_choice<&settings::trace_detail, trace_details>},
    {"APGAS_TRACE_MEMORY", "bytes", "a size from 1M to 64G, such as 64M",
     "memory of each worker for its part of a trace; when it is full, the oldest events are "
     "dropped",
     set_bytes<&settings::trace_bytes, mib, 64 * gib>, show_size<&settings::trace_bytes>},
    {"APGAS_TRAIL", "", "1, 0 or the path of a file to write",
     "if a place dies, print the last events of each worker, and write more of them to the file, "
     "or to a temporary one",
     set_trail, show_trail},
    {"APGAS_PROFILE", "", "span, span:json: and the path of a file to write, or off",
     "at the end, print work and span of all places, and what bounds the speed-up, or write these "
     "to a file",
     set_profile, show_profile},
    {"APGAS_BATCH_SIZE", "bytes", "a size from 256 to 1M, such as 16K",
     "small messages to the same place share a buffer of this size",
     set_bytes<&settings::batch_bytes, 256, mib>, show_size<&settings::batch_bytes>},
    {"APGAS_BATCH_DELAY", "us", "a whole number of microseconds from 0 to 1000000",
     "the longest time that a message waits for others to share its buffer",
     set_integer<&settings::batch_delay_us, 0, 1'000'000>, show_integer<&settings::batch_delay_us>},
    {"APGAS_TASK_WINDOW", "bytes", "a size from 64K to 64G, such as 8M",
     "tasks that a place may send to another one ahead of their start; then senders wait",
     set_bytes<&settings::task_window_bytes, 64 * kib, 64 * gib>,
     show_size<&settings::task_window_bytes>},
    {"APGAS_SEND_QUEUE", "bytes", "a size from 64K to 64G, such as 64M",
     "unsent messages to one place; when there are more, senders to it wait",
     set_bytes<&settings::send_queue_bytes, 64 * kib, 64 * gib>,
     show_size<&settings::send_queue_bytes>},
});

constexpr std::string_view prefix = "APGAS_";

bool is_known(std::string_view name) {
  return name == "APGAS_LAUNCHED_BY" || name == "APGAS_HOSTS" || name.starts_with("APGAS_TEST_") ||
         std::ranges::find(table, name, &option::name) != table.end();
}

// Calls visit(name, value) for each APGAS_* variable.
template <class Visit>
void for_each_variable(const char* const* environment, Visit visit) {
  for (; *environment != nullptr; ++environment) {
    std::string_view entry = *environment;
    const auto equals = entry.find('=');
    if (!entry.starts_with(prefix) || equals == std::string_view::npos) continue;
    visit(entry.substr(0, equals), entry.substr(equals + 1));
  }
}

std::string_view closest_name(std::string_view name) {
  return std::ranges::min(table, {},
                          [name](const option& o) { return edit_distance(o.name, name); })
      .name;
}

}  // namespace

std::span<const option> options() noexcept { return table; }

void set_option(settings& target, std::string_view name, std::string_view value) {
  auto found = std::ranges::find(table, name, &option::name);
  if (found == table.end()) {
    throw std::invalid_argument(
        fmt::format("{} is not a setting; the closest is {}", name, closest_name(name)));
  }
  found->set(target, *found, value);
}

settings read_settings(settings defaults, const char* const* environment) {
  for_each_variable(environment, [&](std::string_view name, std::string_view value) {
    auto found = std::ranges::find(table, name, &option::name);
    if (found != table.end()) found->set(defaults, *found, value);
  });
  return defaults;
}

std::vector<std::string> unknown_variables(const char* const* environment) {
  std::vector<std::string> lines;
  for_each_variable(environment, [&](std::string_view name, std::string_view) {
    if (is_known(name)) return;
    lines.push_back(fmt::format("{} in the environment is not a setting; did you mean {}?", name,
                                closest_name(name)));
  });
  return lines;
}

void warn_unknown_variables(const char* const* environment) {
  static std::once_flag once;
  std::call_once(once, [environment] {
    for (const auto& line : unknown_variables(environment)) warn(line);
  });
}

}  // namespace apgas::inline v0::base
