// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <apgas/base/settings.hpp>
#include <apgas/comm/transports.hpp>
#include <apgas/config.hpp>
#include <apgas/scheduler/seeded_schedule.hpp>

#include "control_server.hpp"
#include "place_runtime.hpp"

// The one way to start and to end, of apgas::run and of apgas::runtime: how a process becomes a
// place, or several.
namespace apgas::inline v0::launch {

// With what this process was started, to start it again under mpirun.
struct command_line {
  int argc;
  char** argv;
};

// The places of this process for the time of one program: started together with those of the other
// processes of the job, and ended together with them. Place 0, or the place of this process where
// place 0 is in another one, belongs to the thread that makes the session. All others of this
// process (APGAS_TRANSPORT=local) have a thread each, which waits for the end.
class session {
 public:
  // Reads the settings, finds the launcher, chooses the transport, exchanges start records with the
  // other places and starts the workers. Does not return where it starts the program again, with
  // `again`, under mpirun. What one place alone finds after the exchange ends the job, with a line
  // and the code exit_code_not_started. Throws: launch_error, at all places of the job alike.
  session(const config& defaults, std::optional<command_line> again);
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  // Requires: end() was called. Context: the thread that made it.
  ~session();

  place_runtime& place() noexcept { return first_->place; }
  int here() const noexcept { return here_; }
  int num_places() const noexcept { return num_places_; }

  // Stops the workers, waits until no message is on its way anywhere and gives back the places of
  // this process. Requires: all places were told the code. Context: as the destructor's; blocks.
  void end();

 private:
  // A place with its transport.
  struct member {
    member(const comm::chosen_transport& chosen, const base::settings& settings,
           scheduler::seeded_schedule* schedule);

    std::unique_ptr<comm::transport> rings;
    std::unique_ptr<comm::transport> delayed;
    comm::transport& network;
    place_runtime place;
  };

  // The places of this process that wait for the end, each on its thread.
  class waiting_places {
   public:
    waiting_places() = default;
    waiting_places(const waiting_places&) = delete;
    waiting_places& operator=(const waiting_places&) = delete;
    ~waiting_places() { join(); }
    // body(place) for 1 to n - 1.
    void start(int n, const std::function<void(comm::rank)>& body);
    void join() noexcept;
    void rethrow_failure();

   private:
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
  };

  void check_seed(bool one_process);
  void start(member& each);
  void open_control(int place, int places) noexcept;
  void withdraw(const place_runtime& place) noexcept;
  void start_local_places();

  base::settings settings_;
  int here_ = 0;
  int num_places_ = 1;
  std::optional<scheduler::seeded_schedule> schedule_;  // of a run with a seed
  std::optional<comm::local_fabric> fabric_;
  std::unique_ptr<control_server> control_;  // null: APGAS_CONTROL=off, or not possible
  waiting_places waiting_;
  std::unique_ptr<member> first_;
};

}  // namespace apgas::inline v0::launch
