// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <apgas/base/settings.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/launch/job_explanation.hpp>
#include <apgas/places/remote_teams.hpp>
#include <apgas/scheduler/job_report.hpp>
#include <apgas/scheduler/place_watch.hpp>
#include <apgas/sync/place_state.hpp>

#include "deadlock_waves.hpp"

// The watchdog of a job with several places. Each place has one of these objects. With
// APGAS_WATCHDOG or APGAS_DEADLOCK it has a thread that looks at the place ten times a second;
// without them the thread begins when another place, or explain(), asks for something.
//
// If place 0 stands still, it asks all places in waves whether they do, too (deadlock_waves.hpp).
// If all do for long enough, or on request, it collects what the tasks of all places wait for and
// makes one report of that.
//
// While tasks run somewhere, place 0 also searches now and then, among the tasks of all places that
// have waited for long, for some that wait for each other.
//
// Wire: control frames whose `handler` has the bit control_watch and the operation, and whose
// `finish` is the number of the wave or of the collection. The endpoint counts them; this object
// subtracts them, so that the waves do not count their own frames.
//
// All of it but on_frame() and explain() runs on the thread, which alone uses the fields without a
// lock.
namespace apgas::inline v0::launch {

inline constexpr std::uint64_t control_watch = std::uint64_t{1} << 59;

class job_watch final : public job_explanation {
 public:
  // `print` prints a report, with one call for each.
  using print_function = void (*)(const std::string& report);
  job_watch(sync::place_state& place, remote::remote_teams& teams, const base::settings& settings,
            print_function print);
  ~job_watch();

  // The workers run; they are about to stop. Context: outside tasks.
  void start();
  void stop() noexcept;

  // Context: handler. Throws: std::bad_alloc.
  void on_frame(const comm::inbound_frame& frame);

  answer explain(std::chrono::milliseconds limit, detail what) override;

 private:
  using clock = std::chrono::steady_clock;
  using time = clock::time_point;

  enum class operation : std::uint8_t {
    probe = 1,
    answer,
    request,
    part,
    report,
    search,
    long_waits,
  };
  struct message {
    comm::rank source;
    operation what;
    std::uint32_t number;
    std::vector<std::byte> payload;
  };
  enum class reason : std::uint8_t { standstill, deadlock, signal, explanation };
  struct wanted_report {
    reason why;
    std::chrono::milliseconds limit;
    std::shared_ptr<std::promise<answer>> promise;  // of explain(); null: it is printed
    detail what = detail::report;
    scheduler::graph_purpose purpose() const noexcept {
      return why == reason::signal || why == reason::explanation ? scheduler::graph_purpose::edges
                                                                 : scheduler::graph_purpose::cycle;
    }
  };
  // What a place answers in a wave. Wire: as in memory.
  struct wave_answer {
    place_answer state;
    std::uint64_t stood_ms = 0;      // for so long no task has run and no timer was set
    std::uint32_t blocking = 0;      // a call of `blocking` is running
    std::uint32_t may_be_woken = 0;  // it is, or the program has threads of its own there
  };
  // The parts of a report that have come.
  struct collection {
    std::uint32_t number;
    time begun;
    time end;
    std::vector<wanted_report> wanted;
    std::vector<std::optional<scheduler::place_waits>> parts;
    std::size_t missing;
  };

  void watch() noexcept;
  void begin_thread();
  time next_time() const;
  void handle(const message& m);
  void send(comm::rank to, operation what, std::uint32_t number,
            std::span<const std::byte> payload = {});

  // Looking (job_watch.cpp)
  void look();
  void ask_all(time now);
  void note(const scheduler::place_watch::state& seen, std::uint64_t received);
  wave_answer answer_wave();
  void on_answer(comm::rank place, std::uint32_t wave, const wave_answer& a);
  void on_silence(time now);
  void want_once(reason why);
  std::chrono::milliseconds stood() const;
  void resume_teams();

  // Searching for tasks that wait for each other while others run (job_watch_search.cpp)
  void begin_search(time now);
  void take_long_waits(std::size_t place, scheduler::place_waits part);
  void end_search(time now);
  scheduler::place_waits long_waits() const;

  // Reporting (job_watch_reports.cpp)
  void want(wanted_report w);
  void begin_collection();
  void take_part(std::size_t place, scheduler::place_waits part);
  void end_collection();
  void deliver(const wanted_report& w, const scheduler::job_report& report);
  scheduler::place_waits part(scheduler::graph_purpose purpose) const;

  sync::place_state& place_;
  remote::remote_teams& teams_;
  const print_function print_;
  const std::chrono::milliseconds patience_;
  bool looks_;                 // there is a watchdog
  const bool reports_always_;  // APGAS_WATCHDOG is set: a standstill is reported, too
  const base::deadlock_choice on_deadlock_;
  std::optional<scheduler::place_watch> watched_;

  // Of the thread
  std::uint64_t sent_ = 0;  // frames of this object
  std::uint64_t received_at_ = 0;
  std::uint64_t activity_at_ = 0;
  std::optional<time> stands_since_;
  time slept_at_{};  // when a look last found all workers asleep
  time look_again_{};
  std::optional<time> teams_resume_;  // when the timer of the teams must run again
  unsigned signals_ = 0;
  deadlock_waves waves_;
  std::uint32_t wave_ = 0;
  time wave_begun_{};
  time next_wave_{};
  std::vector<wave_answer> answers_;  // to the present wave
  int refusals_ = 0;                  // successive waves in which all stood, but not still
  std::uint64_t reported_at_ = 0;     // the activity of all places when a report was printed
  std::optional<reason> reported_;
  std::uint32_t collections_ = 0;
  std::optional<collection> collecting_;
  bool all_may_wait_ = false;  // the last wave may have found a deadlock of all tasks
  bool some_run_ = false;      // tasks run at place 0, or the last wave has found that some run
  std::optional<collection> searching_;
  time search_again_{};
  std::string endless_wait_;            // the last one that was reported
  std::vector<wanted_report> waiting_;  // for the next collection

  base::atomic<std::uint64_t> received_{0};  // frames of this object; the thread that polls writes

  std::mutex mutex_;  // guards everything below
  std::condition_variable wake_;
  std::vector<message> inbox_;
  std::vector<wanted_report> requests_;
  bool running_ = false;  // between start() and stop()
  std::thread thread_;
};

}  // namespace apgas::inline v0::launch
