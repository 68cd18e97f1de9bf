// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <apgas/base/descriptor.hpp>
#include <apgas/launch/job_explanation.hpp>
#include <apgas/scheduler/quit_signal.hpp>
#include <apgas/sync/place_state.hpp>

#include "asked_task.hpp"
#include "control_protocol.hpp"
#include "job_activity.hpp"
#include "job_trace.hpp"
#include "place_answers.hpp"

// Lets tools of the same user on the same host look at the places of this process while they run:
// APGAS_CONTROL. A thread of the library waits for connections to a Unix socket in the abstract
// namespace, checks that the other end is a process of the same user or of root, and answers one
// request for each connection. While no tool asks, the thread sleeps. Without a watchdog, it also
// answers SIGQUIT, with the report of all places.
namespace apgas::inline v0::launch {

// Asks all places of the job for their activity; place 0 has it.
using activity_question = asked_task<std::vector<place_activity>>;

class control_server {
 public:
  // Listens at the address of the process (job_name.hpp), where `place` is its lowest place.
  // Throws: std::system_error if the system refuses the socket or the thread.
  control_server(process_facts facts, int place);
  control_server(const control_server&) = delete;
  control_server& operator=(const control_server&) = delete;
  ~control_server();

  // From add() to remove() the server answers for the place, whose workers must run. `question` is
  // null except at place 0; `explanation` and `trace` are those of the place. remove() waits for an
  // answer that is being given. Context: any thread that is no worker.
  void add(const sync::place_state& place, std::shared_ptr<activity_question> question,
           job_explanation& explanation, job_trace& trace);
  void remove(const sync::place_state& place) noexcept;

 private:
  using time = std::chrono::steady_clock::time_point;

  struct client {
    base::descriptor connection;
    control_request request;
    time deadline;
  };

  void serve() noexcept;
  void answer_signal() noexcept;
  void accept_client();
  bool is_done(client& from) noexcept;
  bool take(client& from, std::span<const std::byte> bytes);
  void reply(const base::descriptor& to, control_status status, std::string_view body) const;
  std::string answer(std::string_view request, control_status& status);
  job_explanation::answer report_of_all(std::chrono::milliseconds limit,
                                        job_explanation::detail what);
  std::string answer_about_trace(std::string_view request);

  const process_facts facts_;
  const base::descriptor listening_;
  const base::descriptor stop_;  // readable when the server is to end
  const base::descriptor quit_;  // readable after SIGQUIT
  std::optional<scheduler::quit_signal_handler> on_quit_;
  std::vector<client> clients_;  // used by the thread alone

  std::mutex mutex_;  // of what follows; held while places answer
  std::vector<const sync::place_state*> places_;
  std::shared_ptr<activity_question> question_;
  job_trace* trace_ = nullptr;  // of place 0; null in the processes of others
  std::map<const sync::place_state*, job_explanation*> explanations_;

  std::thread thread_;
};

// Returns the facts of this process. `places`: of the job.
process_facts facts_of_process(int places, bool watchdog);

}  // namespace apgas::inline v0::launch
