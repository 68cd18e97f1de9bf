// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/log.hpp>
#include <apgas/base/option.hpp>
#include <apgas/base/own_threads.hpp>
#include <apgas/base/random.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/scheduler/cores.hpp>

#include "end_tree.hpp"
#include "host_list.hpp"
#include "job_cores.hpp"
#include "place_runtime.hpp"
#include "process_exit.hpp"
#include "statistics_output.hpp"

namespace apgas::inline v0::launch {
namespace {

using namespace std::chrono_literals;

// The settings that all places must agree on; a place may choose the others for itself. The task
// window is one of them: a place reports whenever it has started the tasks of an eighth of its
// window, and the senders of tasks wait for these reports.
constexpr std::string_view settings_that_must_agree[] = {"APGAS_TASK_WINDOW"};

// As `APGAS_X=value`, separated by blanks. With the profile of work and span frames are longer; the
// file is that of place 0.
std::string agreed_settings(const base::settings& s) {
  std::string text;
  for (const std::string_view name : settings_that_must_agree) {
    const auto found = std::ranges::find(base::options(), name, &base::option::name);
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, found->show(s));
  }
  if (s.profile_span) text += " APGAS_PROFILE=span";
  return text;
}

// With a seed nothing may depend on the time. So either no frame waits for others in a batch, or a
// batch waits until it is full or the place has nothing else to do.
std::chrono::microseconds delay_of_seed(std::uint64_t seed) {
  constexpr std::chrono::hours century(24 * 36525);
  constexpr std::chrono::microseconds before_now{-8};  // so that all frames are late
  return base::random_engine(seed).below(2) == 0 ? before_now : century;
}

comm::endpoint_options endpoint_options_of(const base::settings& s) {
  comm::endpoint_options o;
  o.batch_bytes = s.batch_bytes;
  o.max_delay = std::chrono::microseconds(s.batch_delay_us);
  o.queue_bytes = s.send_queue_bytes;
  o.settings = agreed_settings(s);
  o.zero_copy = s.one_sided == base::one_sided_choice::direct;
  o.cores = scheduler::cores_of_process(s);
  if (s.seed) {
    o.max_delay = delay_of_seed(*s.seed);
    o.batches_observed = true;
  }
  return o;
}

template <class F>
void for_each_line(const std::string& text, F f) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    f(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
}

void print_lines(const std::string& report) {
  for_each_line(report, [](std::string_view line) { base::print_line(line); });
}

}  // namespace

// Calls the network between tasks, and says how long it can be left alone.
//
// Pairs
//   P1  The place is complete for the worker that sees connected_: workers poll from their first
//       moment, and frames of other places may be there before.
class place_runtime::network_events final : public scheduler::external_events {
 public:
  network_events(comm::endpoint& endpoint, sync::remote_finishes& finishes)
      : endpoint_(endpoint), finishes_(finishes) {}

  void connect() noexcept { connected_.store(true, base::release); }  // P1

  bool poll(unsigned looks) noexcept override {
    if (!connected_.load(base::acquire)) return false;  // P1
    bool any = endpoint_.progress(looks);
    any |= finishes_.send_returns();  // unless more tasks of the finish have arrived
    if (!any) endpoint_.flush();
    return any;
  }

  bool pending() noexcept override {
    return endpoint_.has_batch() || endpoint_.network().unsent_bytes() != 0;
  }

  std::chrono::nanoseconds max_sleep(unsigned idle_polls) noexcept override {
    if (endpoint_.has_batch()) return 20us;
    if (endpoint_.network().wakes_on_arrival()) return std::chrono::nanoseconds::max();
    if (descriptor() >= 0) {  // tells of arrivals, but not of a send that could go on
      if (endpoint_.network().unsent_bytes() != 0) return 1ms;
      // Memory that places share may be overwritten, also the flag by which this place is woken.
      return 1s;
    }
    // MPI can only be asked: less and less often, down to 2,000 times a second.
    return std::min<std::chrono::nanoseconds>(20us * (1U << std::min(idle_polls / 8, 5U)), 500us);
  }

  int descriptor() noexcept override { return endpoint_.network().descriptor(); }
  bool arm() noexcept override { return endpoint_.network().arm(); }

 private:
  comm::endpoint& endpoint_;
  sync::remote_finishes& finishes_;
  base::atomic<bool> connected_{false};
};

place_runtime::place_runtime(const comm::chosen_transport& chosen, const base::settings& settings,
                             scheduler::seeded_schedule* schedule)
    : settings_(settings),
      schedule_(schedule),
      why_transport_(chosen.why),
      state_{{.here = chosen.network->here(),
              .places = chosen.network->size(),
              .finish_tree_places = settings.finish_tree_places,
              .team_warning_s = settings.team_warning_s,
              .network_locks = chosen.network->lock_owner()},
             {},
             {}},
      receiver_(state_),
      profile_(settings.profile_span
                   ? std::make_unique<job_span>(settings_, *chosen.network, receiver_, state_)
                   : nullptr),
      trace_(settings, usual_sink()),
      endpoint_(profile_ ? profile_->network() : *chosen.network, usual_sink(),
                endpoint_options_of(settings)),
      calls_(*state_.network_locks),
      flow_(state_.places, settings.task_window_bytes),
      finishes_(state_),
      phases_(state_),
      globals_(state_),
      teams_(state_),
      memory_(state_, endpoint_.network(), settings.one_sided == base::one_sided_choice::direct),
      watch_(state_, teams_, settings, print_lines),
      events_(std::make_unique<network_events>(endpoint_, finishes_)) {
  state_.endpoint = &endpoint_;
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
  const job_cores cores(endpoint_);
  share_ = cores.mine();
  if (settings_.stats) {
    print_hosts();
    for (const std::string& line : cores.description()) base::print_line(line);
  }
  const std::optional<std::string> idle = cores.idle_cores();
  if (idle && comm::launched_by_mpi()) base::warn(*idle);
}

void place_runtime::print_hosts() {
  if (endpoint_.here() != 0) return;
  std::vector<std::string> hosts;
  hosts.reserve(static_cast<std::size_t>(endpoint_.size()));
  for (comm::rank r = 0; r < endpoint_.size(); ++r) hosts.push_back(endpoint_.host(r));
  base::print_line(fmt::format("{} place{}, by {} ({}), {}", hosts.size(),
                               hosts.size() == 1 ? "" : "s", endpoint_.network().name(),
                               why_transport_, describe_hosts(hosts)));
}

namespace {

scheduler::deadlock_action deadlock_action_of(const base::settings& s) {
  using enum base::deadlock_choice;
  using scheduler::deadlock_action;
  switch (s.deadlock) {
    case off:
      return deadlock_action::none;
    case report:
      return deadlock_action::report;
    case abort:
      return deadlock_action::end_process;
    case automatic:
      break;
  }
  return s.watchdog_s != 0 || s.seed ? deadlock_action::end_process : deadlock_action::none;
}

}  // namespace

// An observer that passes events on to `first` and, unless it is null, `second`.
scheduler::task_observer* place_runtime::together(scheduler::task_observer& first,
                                                  scheduler::task_observer* second) {
  if (second == nullptr) return &first;
  pairs_.push_back(std::make_unique<scheduler::observer_pair>(first, *second));
  return pairs_.back().get();
}

void place_runtime::start() {
  scheduler::config c;
  c.workers = share_.workers;
  c.stack_bytes = settings_.stack_bytes;
  c.spin = std::chrono::microseconds(settings_.idle_us);
  c.bound_to = share_.bound_to;
  c.oversubscribed = state_.oversubscribed = share_.oversubscribed;
  c.events = events_.get();
  c.network_locks = state_.network_locks;
  c.progress_thread = settings_.progress == base::progress_choice::thread;
  c.environment = &state_;
  c.detailed_statistics =
      settings_.stats || !settings_.stats_file.empty() || !settings_.metrics.empty();
  c.on_exit = on_process_exit;
  c.schedule = schedule_;
  c.place = state_.here;
  state_.seeded = schedule_ != nullptr;
  if (state_.seeded) c.bound_to.clear();
  c.watchdog_patience = std::chrono::seconds(settings_.watchdog_s);
  c.watchdog_report = [here = state_.here](const std::string& waiting) {
    for_each_line(waiting, [here](std::string_view line) {
      base::print_line(fmt::format("place {}: {}", here, line));
    });
  };
  c.on_deadlock = deadlock_action_of(settings_);
  c.end_process = []() noexcept { base::end_job(base::deadlock_exit_code); };
  c.only_place = state_.places == 1;
  c.report_on_signal = settings_.watchdog_s != 0;
  if (profile_ != nullptr) {
    const bool shares_run = !settings_.trace.empty() || settings_.trail;
    c.observer = &profile_->start(c.workers, shares_run, profile_clock_);
  }
  if (settings_.trail) {
    trail_ = std::make_unique<job_trail>(settings_, state_.here, state_.places, c.workers);
    c.observer = together(trail_->observer(), c.observer);
  }
  scheduler_ = std::make_unique<scheduler::scheduler>(c);
  state_.task_scheduler = scheduler_.get();
  trace_.start(state_, c.observer);
  endpoint_.network().set_wake(
      [](void* tasks) { static_cast<scheduler::scheduler*>(tasks)->wake(); }, scheduler_.get());
  watch_.start();
  events_->connect();
  scheduler_->wake();  // what arrived before
  if (state_.here != 0) {
    if (schedule_ != nullptr) schedule_->place_is_ready();
    return;
  }
  statistics_ = std::make_unique<statistics_output>(settings_, state_);
  activity_ = std::make_shared<activity_question>(state_, activity_of_all);
}

int place_runtime::run_main(const std::function<int()>& main) {
  root_task root(main, "an exception left the main function of apgas::run");
  start_main(root);
  return end_main(root);
}

void place_runtime::start_main(root_task& main) {
  trace_.begin();
  main.start(state_);
  if (schedule_ != nullptr) schedule_->place_is_ready();
}

int place_runtime::end_main(root_task& main) {
  const int code = main.wait();
  if (schedule_ != nullptr && settings_.stats) base::print_line(schedule_->description());
  statistics_->end();
  activity_->close();
  trace_.end();
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
  if ((operation & control_watch) != 0) return watch_.on_frame(frame);
  if (operation == control_span_part && profile_ != nullptr) return profile_->on_part(frame);
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
  const base::own_thread waits;
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return code_.has_value(); });
  return code_.value();
}

void place_runtime::stop() {
  watch_.stop();
  phases_.stop();
  teams_.stop();
  endpoint_.network().set_wake(nullptr, nullptr);
  scheduler_.reset();
  if (profile_ != nullptr) profile_->end();
  endpoint_.flush();
  endpoint_.begin_end();
  while (!endpoint_.end_done()) {
    if (!endpoint_.progress()) std::this_thread::yield();
  }
}

}  // namespace apgas::inline v0::launch
