// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/log.hpp>
#include <apgas/base/option.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/finish.hpp>

#include "end_tree.hpp"
#include "host_list.hpp"
#include "place_runtime.hpp"

namespace apgas::inline v0::launch {
namespace {

using namespace std::chrono_literals;

// The settings that all places must agree on; a place may choose the others for itself. The task
// window is one of them: a place reports whenever it has started the tasks of an eighth of its
// window, and the senders of tasks wait for these reports.
constexpr std::string_view settings_that_must_agree[] = {"APGAS_TASK_WINDOW"};

// As `APGAS_X=value`, separated by blanks.
std::string agreed_settings(const base::settings& s) {
  std::string text;
  for (const std::string_view name : settings_that_must_agree) {
    const auto found = std::ranges::find(base::options(), name, &base::option::name);
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, found->show(s));
  }
  return text;
}

comm::endpoint_options endpoint_options_of(const base::settings& s) {
  comm::endpoint_options o;
  o.batch_bytes = s.batch_bytes;
  o.max_delay = std::chrono::microseconds(s.batch_delay_us);
  o.queue_bytes = s.send_queue_bytes;
  o.settings = agreed_settings(s);
  o.zero_copy = s.one_sided == base::one_sided_choice::direct;
  return o;
}

// Each place has a file of its own: run.json becomes run.3.json.
std::string trace_path(const std::string& path, comm::rank here, int places) {
  if (path.empty() || places == 1) return path;
  std::filesystem::path own = path;
  own.replace_extension(std::to_string(here) + own.extension().string());
  return own.string();
}

// The places of this node divide its cores between them.
core_share share_of(const comm::endpoint& network) {
  core_share share{.index = 0, .count = 0};
  for (comm::rank r = 0; r < network.size(); ++r) {
    if (!network.same_node(r, network.here())) continue;
    if (r < network.here()) ++share.index;
    ++share.count;
  }
  return share;
}

}  // namespace

// Calls the network between tasks, and says how long it can be left alone.
//
// Pairs
//   P1  The place is complete for the worker that sees connected_: workers poll from their first
//       moment, and frames of other places may be there before.
class place_runtime::network_events final : public scheduler::external_events {
 public:
  network_events(comm::endpoint& network, sync::remote_finishes& finishes)
      : network_(network), finishes_(finishes) {}

  void connect() noexcept { connected_.store(true, base::release); }  // P1

  bool poll() noexcept override {
    if (!connected_.load(base::acquire)) return false;  // P1
    bool any = network_.progress();
    any |= finishes_.send_returns();
    if (!any) network_.flush();
    return any;
  }

  bool pending() noexcept override {
    return network_.gathering() || network_.network().unsent_bytes() != 0;
  }

  std::chrono::nanoseconds max_sleep(unsigned idle_polls) noexcept override {
    if (network_.gathering()) return 20us;
    if (network_.network().wakes_on_arrival()) return std::chrono::nanoseconds::max();
    if (descriptor() >= 0) {  // tells of arrivals, but not of a send that could go on
      if (network_.network().unsent_bytes() != 0) return 1ms;
      return std::chrono::nanoseconds::max();
    }
    // MPI can only be asked: less and less often, down to 2,000 times a second.
    return std::min<std::chrono::nanoseconds>(20us * (1U << std::min(idle_polls / 8, 5U)), 500us);
  }

  int descriptor() noexcept override { return network_.network().descriptor(); }
  bool arm() noexcept override { return network_.network().arm(); }

 private:
  comm::endpoint& network_;
  sync::remote_finishes& finishes_;
  base::atomic<bool> connected_{false};
};

place_runtime::place_runtime(const comm::chosen_transport& chosen, const base::settings& settings)
    : settings_(settings),
      why_transport_(chosen.why),
      state_{{.here = chosen.network->here(),
              .places = chosen.network->size(),
              .tree_from = settings.finish_tree_places,
              .team_warning_s = settings.team_warning_s},
             {},
             {}},
      receiver_(state_),
      endpoint_(*chosen.network, receiver_, endpoint_options_of(settings)),
      flow_(state_.places, settings.task_window_bytes),
      finishes_(state_),
      phases_(state_),
      globals_(state_),
      teams_(state_),
      memory_(state_, *chosen.network, settings.one_sided == base::one_sided_choice::direct),
      events_(std::make_unique<network_events>(endpoint_, finishes_)) {
  state_.network = &endpoint_;
  state_.finishes = &finishes_;
  state_.calls = &calls_;
  state_.flow = &flow_;
  state_.phases = &phases_;
  state_.globals = &globals_;
  state_.teams = &teams_;
  state_.memory = &memory_;
  keep_unobserved(state_);
  receiver_.set_control(
      [](void* self, const comm::inbound_frame& frame) {
        static_cast<place_runtime*>(self)->on_control(frame);
      },
      this);
}

place_runtime::~place_runtime() = default;

void place_runtime::bootstrap() {
  endpoint_.wait_ready();
  if (!settings_.stats || endpoint_.here() != 0) return;
  std::vector<std::string> hosts;
  hosts.reserve(static_cast<std::size_t>(endpoint_.size()));
  for (comm::rank r = 0; r < endpoint_.size(); ++r) hosts.push_back(endpoint_.host(r));
  base::print_line(fmt::format("{} places, by {} ({}), {}", hosts.size(),
                               endpoint_.network().name(), why_transport_, describe_hosts(hosts)));
}

void place_runtime::start() {
  const core_share share = share_of(endpoint_);
  scheduler::config c;
  c.workers = settings_.workers > 0
                  ? settings_.workers
                  : std::max(1, scheduler::usable_cores() / std::max(1, share.count));
  if (share.count == 1 && comm::launched_by_mpi() && scheduler::usable_cores() == 1 &&
      sysconf(_SC_NPROCESSORS_ONLN) > 1 && settings_.workers == 0) {
    base::warn(
        "the launcher bound this place to one core, so it has one worker; mpirun --bind-to none "
        "gives it the others");
  }
  c.stack_bytes = settings_.stack_bytes;
  c.spin = std::chrono::microseconds(settings_.idle_us);
  c.bind = settings_.bind != base::bind_choice::none;
  c.share_index = share.index;
  c.share_count = share.count;
  c.share_cores = c.workers * share.count > scheduler::usable_cores();
  c.events = events_.get();
  c.progress_thread = settings_.progress == base::progress_choice::thread;
  c.environment = &state_;
  c.place = state_.here;
  c.trace = trace_path(settings_.trace, state_.here, state_.places);
  c.watchdog_patience = std::chrono::seconds(settings_.watchdog_s);
  c.watchdog_report = [here = state_.here](const std::string& waiting) {
    base::print_line(fmt::format("place {}: {}", here, waiting));
  };
  scheduler_ = std::make_unique<scheduler::scheduler>(c);
  state_.tasks = scheduler_.get();
  endpoint_.network().set_wake(
      [](void* tasks) { static_cast<scheduler::scheduler*>(tasks)->wake(); }, scheduler_.get());
  events_->connect();
  scheduler_->wake();  // what arrived before
}

namespace {

// Main as a task: the body of the root finish.
struct root_task : scheduler::external_task {
  root_task(const std::function<int()>& m, sync::place_state& p)
      : external_task{.run = start}, main(m), place(p) {}

  static scheduler::task_counter* start(external_task* work, scheduler::fiber& self) noexcept {
    static_cast<root_task*>(work)->run_on(self);
    return nullptr;
  }

  void run_on(scheduler::fiber& self) noexcept {
    std::vector<task_exception> failures;
    int code = 0;
    keep_failures(failures, [&] { code = run_main(self); });
    keep_failures(failures, throw_unobserved);
    if (!failures.empty()) {
      code = 1;
      base::print_line(fmt::format("an exception left the main function of apgas::run: {}",
                                   multiple_exceptions(std::move(failures)).what()));
    }
    std::lock_guard guard(mutex);
    result = code;
    done.notify_one();
  }

  int run_main(scheduler::fiber& self) {
    int code = 0;
    sync::finish_frame root(self);
    place.finishes->open_root(root.core());
    try {
      code = main();
    } catch (...) {
      sync::task_failed(self);
    }
    root.end();   // the outer finish is the current one again
    return code;  // NOLINT(clang-analyzer-core.StackAddressEscape): end() is out of its sight
  }

  template <class F>
  static void keep_failures(std::vector<task_exception>& failures, F f) {
    try {
      f();
    } catch (const multiple_exceptions& several) {
      failures.insert(failures.end(), several.begin(), several.end());
    } catch (...) {
      failures.emplace_back(std::current_exception(), 0, spawn_site{});
    }
  }

  const std::function<int()>& main;
  sync::place_state& place;
  std::mutex mutex;
  std::condition_variable done;
  std::optional<int> result;
};

}  // namespace

int place_runtime::run_main(const std::function<int()>& main) {
  root_task root(main, state_);
  scheduler_->submit(&root);
  int code = 0;
  {
    std::unique_lock lock(root.mutex);
    root.done.wait(lock, [&] { return root.result.has_value(); });
    code = root.result.value();
  }
  tell_others(code);
  return code;
}

namespace {

// Wire: frame_header::handler of launch's control frames; no bit of the protocols below. The code
// of the run is in `credit`.
constexpr std::uint64_t control_end_of_run = 1;

}  // namespace

void place_runtime::tell_others(int code) {
  const comm::frame_header header{.kind = comm::frame_kind::control,
                                  .handler = control_end_of_run,
                                  .credit = static_cast<std::uint32_t>(code)};
  for_each_told_by(state_.here, state_.places, [&](comm::rank place) {
    endpoint_.send(place, header, std::span<const std::byte>{});
  });
}

void place_runtime::on_control(const comm::inbound_frame& frame) {
  const std::uint64_t operation = frame.header->handler;
  if ((operation & remote::control_team) != 0) return teams_.on_message(frame);
  if (operation != control_end_of_run) {
    base::fatal(fmt::format("place {} sent a control frame with the unknown operation {:#x}",
                            frame.source, operation));
  }
  if (frame.source != told_by(state_.here)) {
    base::fatal(
        fmt::format("place {} sent the end of the run, which is not for it to say", frame.source));
  }
  const int code = static_cast<int>(static_cast<std::uint32_t>(frame.header->credit));
  tell_others(code);
  std::lock_guard guard(mutex_);
  code_ = code;
  ended_.notify_one();
}

int place_runtime::wait_for_end() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return code_.has_value(); });
  return code_.value();
}

void place_runtime::stop() {
  if (settings_.stats) print_statistics();
  phases_.stop();
  teams_.stop();
  endpoint_.network().set_wake(nullptr, nullptr);
  scheduler_.reset();
  endpoint_.flush();
  endpoint_.begin_end();
  while (!endpoint_.end_done()) {
    if (!endpoint_.progress()) std::this_thread::yield();
  }
}

void place_runtime::print_statistics() {
  const scheduler::statistics s = scheduler_->stats();
  const comm::traffic t = endpoint_.total_traffic();
  base::print_line(
      fmt::format("place {}: {} workers, {} steals of {} tasks, {} suspensions, {} drains, {} "
                  "sleeps, {} fibers; "
                  "{} frames in {} messages ({} bytes) sent, {} frames received, by {}",
                  state_.here, scheduler_->num_workers(), s.steals, s.stolen, s.suspensions,
                  s.drains, s.sleeps, s.fibers, t.frames_sent, t.messages_sent, t.bytes_sent,
                  t.frames_received, endpoint_.network().name()));
}

}  // namespace apgas::inline v0::launch
