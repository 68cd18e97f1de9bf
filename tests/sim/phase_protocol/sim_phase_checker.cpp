// SPDX-License-Identifier: Apache-2.0
// The invariants of the whole simulated world. The checker counts for itself and trusts no counter.
#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "sim_phase_world.hpp"

namespace phase_sim {

void checker::after_step(const world& w) {
  for (const auto& n : w.nodes_) {
    const std::int64_t p = n.counter.phase();
    require(!w.model_.has_signallers() || p <= w.model_.phase(), "a phase is over too early", p);
    if (n.parent < 0) continue;
    const std::int64_t above = w.nodes_[static_cast<std::size_t>(n.parent)].counter.phase();
    require(p == above || p + 1 == above, "a tree node is not in the phase of its parent", p);
  }
  if (w.settings_.recounts) {
    compare_records(w);
    recount_leaves(w);
    recount_inner(w);
  }
  if (w.model_.has_signallers() && at_rest(w)) {
    const std::int64_t p = w.nodes_[static_cast<std::size_t>(w.root_)].counter.phase();
    require(p == w.model_.phase(), "a phase does not end although all signallers have signalled",
            p);
  }
}

void checker::compare_records(const world& w) {
  for (const auto& t : w.tasks_) {
    if (t.at == world::stage::ended || !t.registered) continue;
    const auto& m = w.model_.members().at(static_cast<int>(&t - w.tasks_.data()));
    require(m.waited == t.waited || !t.waits(), "a task has miscounted its waits", t.name);
    require(m.signalled == t.signalled || !t.signals(), "a task has miscounted its signals",
            t.name);
  }
}

// Whether all pending messages between tree nodes, and all batched arrivals, have been delivered.
bool checker::at_rest(const world& w) {
  if (!w.duties_.empty() || w.elected_ >= 0) return false;
  const auto noted = [](const auto& b) { return b.noted(); };
  const auto tells = [](const auto& t) { return t.untold.signals != 0 || t.old_leaf >= 0; };
  return std::ranges::none_of(w.batches_, noted) && std::ranges::none_of(w.tasks_, tells);
}

// C1 to C3: every signaller is counted at its leaf, and nothing else is.
void checker::recount_leaves(const world& w) {
  struct sums {
    std::map<std::int64_t, std::int64_t> at;
    std::int64_t signallers = 0;
    std::int64_t members = 0;
  };
  std::vector<sums> of(w.nodes_.size());
  const auto count = [&of](int leaf, std::int64_t s, std::int64_t n) {
    of[static_cast<std::size_t>(leaf)].at[s] += n;
    of[static_cast<std::size_t>(leaf)].signallers += n;
    of[static_cast<std::size_t>(leaf)].members += n;
  };
  for (const auto& t : w.tasks_) {
    if (!t.registered) continue;
    const bool unsaid = t.untold.signals != 0 || t.noted;
    for (const int leaf : {t.leaf, t.old_leaf}) {
      if (leaf < 0) continue;
      if (t.signals()) {
        count(leaf, unsaid ? t.signalled - 1 : t.signalled, 1 + t.untold.leave);
      } else {
        ++of[static_cast<std::size_t>(leaf)].members;
      }
    }
    if (t.credit != 0) count(t.leaf, t.signalled, t.credit);
  }
  for (const auto& b : w.batches_) {
    if (b.ends == 0) continue;
    count(b.leaf, w.nodes_[static_cast<std::size_t>(b.leaf)].counter.phase(), b.ends);
  }
  for (std::size_t i = 0; i < w.nodes_.size(); ++i) {
    const auto& n = w.nodes_[i];
    if (!n.children.empty()) continue;
    const int leaf = static_cast<int>(i);
    require(n.members == of[i].members, "the registered tasks of a leaf are miscounted", leaf);
    require(n.counter.signallers() == of[i].signallers, "signallers are miscounted", leaf);
    for (std::int64_t s = n.counter.phase(); s <= access::last(n.counter.machine()); ++s) {
      const std::int64_t here = of[i].at[s];
      require(access::at(n.counter.machine(), s) == here, "a signaller is counted at a wrong phase",
              leaf);
    }
  }
}

// In terms of docs/protocols/phase.md, C2: a child is unarrived at its parent if the child is not
// complete, apart from messages that are still pending.
void checker::recount_inner(const world& w) {
  std::vector<std::int64_t> unarrived(w.nodes_.size());
  for (std::size_t i = 0; i < w.nodes_.size(); ++i) {
    for (const int child : w.nodes_[i].children) {
      const auto& below = w.nodes_[static_cast<std::size_t>(child)].counter;
      const bool advanced = below.phase() == w.nodes_[i].counter.phase();
      if (!advanced || below.unarrived() != 0) ++unarrived[i];
    }
  }
  for (const auto& d : w.duties_) {
    const auto at = static_cast<std::size_t>(d.node);
    if (d.what == world::job::completed && d.node >= 0) ++unarrived[at];
    for (const auto& f : d.frames) unarrived[static_cast<std::size_t>(f.node)] += f.tell ? 1 : 0;
  }
  for (std::size_t i = 0; i < w.nodes_.size(); ++i) {
    const auto& n = w.nodes_[i];
    if (n.children.empty()) continue;
    require(n.counter.unarrived() == unarrived[i], "an inner tree node miscounts its children",
            static_cast<int>(i));
    require(unarrived[i] + access::at(n.counter.machine(), n.counter.phase() + 1) ==
                std::ssize(n.children),
            "an inner tree node has lost a child", static_cast<int>(i));
  }
}

void checker::at_end(const world& w) {
  for (const auto& t : w.tasks_) {
    if (t.at == world::stage::parked || t.at == world::stage::elected) {
      require(!w.model_.complete(t.waited), "a task waits for a phase that is complete", t.name);
    }
    require(t.at == world::stage::ended, "a task never ends", t.name);
  }
  after_step(w);
  require(w.model_.members().empty(), "the model has a task left", 0);
  for (const auto& n : w.nodes_) {
    require(n.parked.empty(), "a task is parked at the end", 0);
    require(n.members == 0, "registered tasks are left at the end", n.members);
    if (!n.children.empty()) continue;
    require(n.counter.signallers() == 0, "signallers are left at the end", n.counter.signallers());
    for (std::int64_t s = n.counter.phase(); s <= access::last(n.counter.machine()); ++s) {
      require(access::at(n.counter.machine(), s) == 0, "a count is left at the end", s);
    }
  }
  require(w.active_ == 0, "leaves with signallers are miscounted", w.active_);
  require(w.users_ == 0, "the phaser still exists at the end", w.users_);
}

// Tasks are identified by the names in the script, so that states do not differ by the order in
// which the tasks were created.
std::string checker::state(const world& w) {
  std::vector<std::string> parts;
  std::string head;
  const auto put = [](std::string& to, std::initializer_list<std::int64_t> values) {
    for (const std::int64_t v : values) to.push_back(static_cast<char>(v));
  };
  const auto name = [&w](int id) {
    return id < 0 ? -1 : w.tasks_[static_cast<std::size_t>(id)].name;
  };
  const auto names = [&](std::string& to, std::vector<int> ids, bool sorted) {
    for (int& id : ids) id = name(id);
    if (sorted) std::ranges::sort(ids);
    for (const int id : ids) put(to, {id});
    put(to, {-2});
  };
  for (const auto& n : w.nodes_) {
    put(head, {n.counter.phase(), n.counter.signallers(), n.open, n.batches_arrivals, n.members});
    for (std::int64_t s = n.counter.phase(); s <= access::last(n.counter.machine()); ++s) {
      put(head, {access::at(n.counter.machine(), s)});
    }
    names(head, n.parked, !w.settings_.batches_arrivals);
  }
  put(head,
      {w.root_, w.nodes_.front().parent, w.ends_in_steps_, name(w.elected_), w.active_, w.users_});
  for (const auto& t : w.tasks_) {
    std::string& part = parts.emplace_back("t");
    put(part, {t.name, t.leaf, t.signalled, t.waited, t.old_leaf, t.credit, t.last_credit, t.step,
               t.arrivals, t.registered, t.noted, static_cast<std::int64_t>(t.at),
               static_cast<std::int64_t>(t.then), t.spawning.name,
               static_cast<std::int64_t>(t.spawning.mode), t.untold.signals, t.untold.leave,
               t.batch < 0});
  }
  for (const auto& b : w.batches_) {
    std::string& part = parts.emplace_back("b");
    put(part, {b.leaf, b.ends});
    names(part, b.rest, false);
    names(part, b.waiting, false);
    for (const auto& t : w.tasks_) {
      if (t.batch == &b - w.batches_.data()) put(part, {t.name});
    }
    if (b.rest.empty() && !b.noted()) parts.pop_back();
  }
  for (const auto& d : w.duties_) {
    std::string& part = parts.emplace_back("d");
    put(part, {static_cast<std::int64_t>(d.what), d.what == world::job::flush_arrivals ? 0 : d.node,
               name(d.then), d.release, d.open});
    for (const auto& f : d.frames) put(part, {f.node, f.next, f.complete, f.tell});
  }
  std::string ready = "r";
  names(ready, w.ready_, true);
  parts.push_back(std::move(ready));
  std::ranges::sort(parts);
  for (const std::string& part : parts) head.append(part).push_back('|');
  return head;
}

}  // namespace phase_sim
