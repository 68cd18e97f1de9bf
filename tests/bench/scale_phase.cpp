// SPDX-License-Identifier: Apache-2.0
// The protocol of clocks and phasers over places: the counters, uplinks and the downlink of the
// product, round by round. A message takes one round and a task takes no time. The checkers of the
// protocol are in tests/sim; here the claimed numbers of messages are checked.
#include <algorithm>
#include <vector>

#include <apgas/sync/phase_counter.hpp>
#include <apgas/sync/phase_downlink.hpp>
#include <apgas/sync/phase_uplink.hpp>

#include "scale.hpp"

namespace bench {
namespace {

namespace sync = apgas::sync;

constexpr std::int64_t frame_bytes = 32;

// What the tasks of a place do: signal and wait, as on a clock; signal all phases at once without
// waiting; or only wait.
enum class role { both, ahead, waits };

// One clock or phaser whose home is place 0, with `tasks` tasks at each place. Every second of the
// other places has the role `others_do`; the home and the rest signal and wait.
class phase_world {
 public:
  phase_world(int places, std::int64_t tasks, role others_do)
      : tasks_(tasks), replicas_(as_size(places) - 1) {
    static_cast<void>(home_.join(0, tasks));
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      replica& r = replicas_[i];
      if (i % 2 == 0) r.does = others_do;
      if (r.does != role::waits) static_cast<void>(r.node.join(0, tasks));
      r.members = true;
    }
  }

  void run(int phases) {
    for (int place = 1; place <= others(); ++place)
      look(place);  // every place reports its first position
    for (int place = 1; place <= others(); ++place) {
      if (at(place).does != role::ahead) continue;
      for (int p = 0; p < phases; ++p) static_cast<void>(at(place).node.signal(p, tasks_));
      look(place);
    }
    for (int p = 0; p < phases; ++p) phase(p);
    for (int place = 1; place <= others(); ++place) leave(place, phases);
  }

  // The home counts each place as a signaller; a place's first report asks for an acknowledgement.
  std::int64_t arrivals = 0, joins = 0, acknowledgements = 0, releases = 0, gone = 0;
  std::int64_t depth = 0;  // messages in a chain, for one phase
  std::string wrong;

  [[nodiscard]] std::int64_t others() const { return static_cast<std::int64_t>(replicas_.size()); }
  [[nodiscard]] std::int64_t others_that(role does) const {
    return std::ranges::count(replicas_, does, &replica::does);
  }

 private:
  struct replica {
    sync::phase_counter node;
    sync::phase_uplink up;
    bool members = false;
    role does = role::both;
  };

  static std::size_t as_size(std::int64_t n) { return static_cast<std::size_t>(n); }
  replica& at(std::int64_t place) { return replicas_[as_size(place) - 1]; }

  // All tasks that have not signalled phase p do so; the phase ends, and every place is told.
  void phase(std::int64_t p) {
    static_cast<void>(home_.signal(p, tasks_));
    for (std::int64_t place = 1; place <= others(); ++place) {
      if (at(place).does != role::both) continue;
      if (home_.unarrived() == 0) fail("a phase is complete before all signallers have arrived");
      static_cast<void>(at(place).node.signal(p, tasks_));
      look(place);
    }
    if (home_.unarrived() != 0)
      return fail("a phase is not complete although all signallers have arrived");
    static_cast<void>(home_.advance_phase());
    const std::int64_t before = releases;
    down_.on_phase(p + 1, [&](int place) {
      ++releases;
      static_cast<void>(at(place).node.advance_phase());
      look(place);
    });
    if (releases - before != others())
      fail("the number of releases is not one per place and phase");
    depth = 2;  // an arrival and a release
  }

  void look(std::int64_t place) {
    replica& r = at(place);
    const bool signallers = r.node.signallers() != 0;
    const auto news = r.up.look({.phase = r.node.phase(),
                                 .first = signallers ? r.node.first() : sync::phase_uplink::silent,
                                 .members = r.members});
    if (!news) return;
    const auto steps = down_.on_position(static_cast<int>(place), news->at);
    if (steps.join >= 0) static_cast<void>(home_.join(steps.join));
    if (steps.signal >= 0) static_cast<void>(home_.signal(steps.signal));
    if (steps.leave >= 0) static_cast<void>(home_.leave(steps.leave));
    ++(news->acknowledge || !signallers ? joins : arrivals);
    if (!news->acknowledge) return;
    ++acknowledgements;
    down_.on_told(static_cast<int>(place), home_.phase());
    static_cast<void>(r.up.on_acknowledged());
  }

  void leave(std::int64_t place, std::int64_t p) {
    replica& r = at(place);
    if (r.does != role::waits) static_cast<void>(r.node.leave(p, tasks_));
    r.members = false;
    if (!r.up.may_go({.phase = p, .first = sync::phase_uplink::silent, .members = false}))
      return fail("the replica of a place without tasks cannot be removed");
    ++gone;
    const auto steps = down_.on_gone(static_cast<int>(place));
    if (steps.leave >= 0) static_cast<void>(home_.leave(steps.leave));
  }

  void fail(const char* what) { wrong = what; }

  std::int64_t tasks_;
  sync::phase_counter home_;
  sync::phase_downlink down_;
  std::vector<replica> replicas_;
};

scale_result clock(int places, std::int64_t tasks, int phases, role others_do = role::both) {
  phase_world world(places, tasks, others_do);
  world.run(phases);
  scale_result r;
  r.wrong = world.wrong;
  r.task_frames = world.others();
  r.to_home = world.joins + world.arrivals + world.gone;
  r.to_other = world.acknowledgements / std::max<std::int64_t>(world.others(), 1) + phases;
  r.frames = r.to_home + world.acknowledgements + world.releases;
  r.bytes = r.frames * frame_bytes;  // the home takes part in all of them
  r.depth = world.depth;
  if (r.wrong.empty() &&
      world.arrivals != phases * world.others_that(role::both) + world.others_that(role::ahead))
    r.wrong = "the number of arrivals is not one per place and phase, or one for all phases";
  return r;
}

}  // namespace

std::vector<workload> phase_workloads() {
  return {
      {"clock", "a task at each place, one phase", 100'000,
       [](int places) { return clock(places, 1, 1); }},
      {"clock", "a task at each place, 10 phases", 100'000,
       [](int places) { return clock(places, 1, 10); }},
      {"clock", "1,000 tasks at each place, 10 phases", 100'000,
       [](int places) { return clock(places, 1'000, 10); }},
      {"phaser", "every second place signal-only, 10 phases", 100'000,
       [](int places) { return clock(places, 1, 10, role::ahead); }},
      {"phaser", "every second place wait-only, 10 phases", 100'000,
       [](int places) { return clock(places, 1, 10, role::waits); }},
  };
}

}  // namespace bench
