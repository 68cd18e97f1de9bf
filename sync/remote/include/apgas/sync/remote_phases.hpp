// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/phase_core.hpp>
#include <apgas/sync/phase_downlink.hpp>
#include <apgas/sync/phase_uplink.hpp>
#include <apgas/sync/registration.hpp>

// The clocks and phasers of a place that span places: those whose home is here and which other
// places know, and the replicas of those whose home is elsewhere. This drives the state machines
// phase_uplink and phase_downlink, and sends the messages that they ask for. The protocol is
// described in docs/protocols/phase.md.
//
// Wire: control frames. `finish` is the number of the clock and `credit` is a phase. `handler`
// consists of the bit control_phase, the operation (bits 0 to 7) and flags (bits 8 to 15). An
// `arrived` also has the sender's leaf (bits 16 to 31) and the number of registrations (bits 32 to
// 61). A partial result, a result and a request for a result have the index of the accumulator
// (bits 16 to 61). Only partial results and results have a payload.
//
// Locks are taken in the order table, replica or home, tree node.
namespace apgas::inline v0::sync {

struct place_state;
class phase_replica;

inline constexpr std::uint64_t control_phase = std::uint64_t{1} << 62;

// A registration in transit to another place.
// Wire: as it lies in memory.
struct transferred_registration {
  std::uint64_t number = 0;  // of the clock or phaser
  std::uint64_t bits = 0;    // of the transit
  std::int64_t base = 0;     // all phases before this one are over
  std::uint16_t leaf = 0;    // the sender's leaf, which counts the registration
  phase_kind kind = phase_kind::clock;
  bool in_finish = true;  // acquired inside the innermost finish
  std::uint32_t unused = 0;
};
static_assert(sizeof(transferred_registration) == 32);

class remote_phases {
 public:
  explicit remote_phases(place_state& place) : place_(place), drain_{{}, this} {
    drain_.run = &drain;
  }
  remote_phases(const remote_phases&) = delete;
  remote_phases& operator=(const remote_phases&) = delete;
  // Requires: no task is left. Forgets clocks whose last messages have not arrived.
  ~remote_phases();

  // Prepares `t`, which is counted at this place, for sending. Throws: std::bad_alloc.
  transferred_registration sent(const transit& t, bool in_finish);
  // Registers at this place what came from `sender`, and tells the sender to stop counting it.
  // Context: task. May resume on another worker. Throws: std::bad_alloc.
  transit received(scheduler::fiber& self, const transferred_registration& t, comm::rank sender);

  // At a replica: asks the home for the result of phase p, which is over.
  void ask(phase_core& core, std::uint32_t action, std::int64_t p) noexcept;

  // Returns the clock or phaser with that number, for which tasks wait according to their
  // wait_record; null if this place does not know it. It must not be dereferenced. Context: any
  // thread, also inside of send().
  const void* object_of(std::uint64_t number) noexcept;

  // Context: handler. Throws: std::bad_alloc.
  void on_message(const comm::inbound_frame& frame);
  // Called when the workers stop: later messages are ignored. Context: outside tasks.
  void stop() noexcept;

  // Statistics for tests: the messages this place has sent, and the clocks it knows.
  struct counts {
    std::uint64_t arrivals = 0;  // a replica has completed a phase
    // Any other change of position: registrations, reopened phases, drops.
    std::uint64_t positions = 0;
    std::uint64_t gone = 0;
    std::uint64_t releases = 0;          // a phase is over
    std::uint64_t acknowledgements = 0;  // of a position that moved back
    std::uint64_t arrived = 0;           // to the senders of registrations in transit
    std::uint64_t parts = 0;             // partial results of accumulators, to the home
    std::uint64_t results = 0;           // of accumulators, to the replicas
    std::uint64_t asked = 0;             // requests for results that had not come
    std::uint64_t replicas = 0;
    std::uint64_t homes = 0;  // clocks of this place that other places have known
  };
  counts count() noexcept;

 private:
  friend class phase_home;
  friend class phase_replica;
  struct message {
    comm::rank source;
    std::uint64_t what;
    std::uint64_t number;
    std::int64_t phase;
    std::vector<std::byte> payload;
  };
  struct drain_task : scheduler::external_task {
    remote_phases* self;
  };

  void send(comm::rank dest, std::uint64_t what, std::uint64_t number, std::int64_t phase,
            std::span<const std::byte> payload = {}) noexcept;
  void send_value(comm::rank dest, std::uint64_t operation, const phase_core& core,
                  std::uint32_t action, std::int64_t p, const phase_value& v) noexcept;
  void send_arrived(std::uint64_t number, const phase_transits& t) noexcept;
  static scheduler::task_counter* drain(scheduler::external_task* work,
                                        scheduler::fiber& self) noexcept;
  void take(scheduler::worker& w, phase_core* core, const message& m) noexcept;
  void take_value(phase_core& core, const message& m) noexcept;
  void let_go(scheduler::worker& w, phase_core& core, const message& m) noexcept;

  phase_core* find(std::uint64_t number) noexcept;  // returned with a reference held
  phase_core& join(const transferred_registration& t, std::int64_t signalled);
  void remove(phase_replica& r) noexcept;
  void forget(const phase_core& home) noexcept;
  void entered(const phase_core& core);
  void erase(std::uint64_t number) noexcept;

  place_state& place_;
  base::spin_lock lock_;
  std::unordered_map<std::uint64_t, phase_core*> cores_;
  // The same for object_of(), with a lock that may be taken after all others.
  base::spin_lock objects_lock_;
  std::unordered_map<std::uint64_t, const void*> objects_;
  base::atomic<std::uint64_t> arrivals_{0}, positions_{0}, gone_{0}, releases_{0},
      acknowledgements_{0}, arrived_{0}, parts_{0}, results_{0}, asked_{0};

  base::spin_lock inbox_lock_;
  std::vector<message> inbox_;
  bool draining_ = false;
  bool stopped_ = false;
  drain_task drain_;
};

// The home's end of the link: tells every replica of the end of each phase.
class phase_home final : public phase_link {
 public:
  phase_home(remote_phases& table, phase_core& core) noexcept : table_(table), core_(core) {}
  ~phase_home() override {
    if (listed_) table_.forget(core_);
  }

  void changed(scheduler::worker& w) noexcept override;
  void reduced(std::int64_t p) noexcept override;
  void task_elected() noexcept override {}
  void single_done() noexcept override {}
  void on_position(scheduler::worker& w, comm::rank place, std::int64_t at, bool acknowledge);
  void on_gone(scheduler::worker& w, comm::rank place);
  // A task at that place was elected to run the closure of a next_single; it has run it.
  void on_task_elected(comm::rank place);
  void on_single_done(scheduler::worker& w);

 private:
  friend class remote_phases;
  struct place_runner final : next_single_runner {
    void all_signalled() noexcept override;
    phase_home* home = nullptr;
    comm::rank place = 0;
    bool elected = false;
  };
  void apply(scheduler::worker& w, const phase_downlink::steps& s);

  remote_phases& table_;
  phase_core& core_;
  base::spin_lock lock_;
  phase_downlink replicas_;
  place_runner runner_;
  bool listed_ = false;  // in the table, unless another task was faster
};

// A replica's end of the link: tells the home when no signaller is unarrived here.
class phase_replica final : public phase_link {
 public:
  phase_replica(remote_phases& table, phase_core& core) noexcept : table_(table), core_(core) {}

  void changed(scheduler::worker& w) noexcept override;
  void reduced(std::int64_t) noexcept override {}
  void task_elected() noexcept override;
  void single_done() noexcept override;
  // A registration in transit has arrived and been counted here.
  void on_transit(scheduler::worker& w, std::int64_t base, const phase_transits& t);
  // The home says that all phases before p are over.
  void on_phase(scheduler::worker& w, std::int64_t p, bool open, bool acknowledged);
  // The home has chosen the task that is elected here.
  void on_chosen();

 private:
  friend class remote_phases;
  bool tell();
  void send_parts(std::int64_t first);

  remote_phases& table_;
  phase_core& core_;
  base::spin_lock lock_;
  phase_uplink home_;
  bool gone_ = false;
};

}  // namespace apgas::inline v0::sync
