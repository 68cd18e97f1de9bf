// SPDX-License-Identifier: Apache-2.0
// Checks what must be true of the whole world. The checker counts for itself and relies on no state
// machine.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim_finish_world.hpp"

namespace sim {
namespace {

void require(bool holds, const char* what, int f) {
  if (!holds) throw violation(std::string(what) + " (finish " + std::to_string(f) + ")");
}

}  // namespace

void checker::after_step(const world& w) {
  std::vector<credit_sum> away(w.finishes_.size());
  std::set<std::pair<int, int>> asked;                 // finish, place
  std::map<std::pair<int, int>, std::int64_t> linked;  // the same: links that must be released
  for (const auto& m : w.messages_) {
    away[static_cast<std::size_t>(m.finish)] += m.credit + m.returned.credit();
    if (m.level != 0) ++linked[{m.finish, m.from}];
    if (m.links != 0) linked[{m.finish, m.to}] += m.links;
    const bool request = m.kind == world::message_kind::request;
    if (!request && m.kind != world::message_kind::grant) continue;
    const bool only_one = asked.emplace(m.finish, request ? m.from : m.to).second;
    require(only_one, "a place has asked twice", m.finish);
  }
  for (const auto& here : w.remotes_) {
    for (const auto& [f, p] : here) {
      const tree_return& links = p.protocol.links();
      if (links.linked()) linked[{f, links.parent()}] += links.held();
    }
  }
  std::set<std::pair<int, int>> draining;
  for (const auto& r : w.reports_) {
    if (r.what == world::duty::drain) draining.emplace(r.finish, r.place);
  }
  for (std::size_t place = 0; place < w.remotes_.size(); ++place) {
    for (const auto& [f, p] : w.remotes_[place]) {
      const remote_finish_state& remote_state = p.protocol.state();
      away[static_cast<std::size_t>(f)] += remote_state.pool();
      const auto at = linked.find({f, static_cast<int>(place)});
      const std::int64_t owed = at == linked.end() ? 0 : at->second;
      if (at != linked.end()) linked.erase(at);
      require(std::int64_t{p.protocol.links().owed()} == owed, "links are lost or duplicated", f);
      require(owed == 0 || remote_state.pool() > 0, "a place with children has no credit", f);
      require(remote_state.waiting() == p.frames.size(), "waiting frames are miscounted", f);
      const bool asks = asked.erase({f, static_cast<int>(place)}) == 1;
      const bool drains = draining.contains({f, static_cast<int>(place)});
      require(!p.frames.empty() == (asks || drains),
              "a frame waits without a request, or the reverse", f);
      require(!asks || !drains, "a place has asked before it has used the grant", f);
    }
  }
  require(linked.empty(), "a place is linked to one that is gone", -1);
  require(asked.empty(), "a place has asked and gone", -1);
  for (std::size_t i = 0; i < w.finishes_.size(); ++i) {
    const auto& f = w.finishes_[i];
    const int id = static_cast<int>(i);
    require(away[i] == f.ledger.state().outstanding(), "credit is lost or made", id);
    require(f.credit_counts == (away[i] != 0 ? 1 : 0),
            "home holds no pending count for credit, or too many", id);
  }
  for (const auto& t : w.tasks_) {
    if (t.ended || t.place < 0) continue;
    std::vector<int> governing = t.outer;
    governing.push_back(t.finish);
    for (const int f : governing) {
      if (f < 0 || w.finishes_[static_cast<std::size_t>(f)].home == t.place) continue;
      const auto& here = w.remotes_[static_cast<std::size_t>(t.place)];
      const auto found = here.find(f);
      require(found != here.end() && found->second.protocol.state().pool() > 0,
              "a task lives where its finish has no credit", f);
    }
  }
}

void checker::on_complete(const world& w, int id) {
  const auto& f = w.finishes_[static_cast<std::size_t>(id)];
  require(!f.complete, "a finish completes twice", id);
  require(f.living == 0, "a finish completes while a task of it lives", id);
  require(f.messages == 0, "a finish completes while a message of it is on its way", id);
  require(f.remotes == 0, "a finish completes while a place has a remote state of it", id);
  require(f.ledger.state().outstanding() == 0, "a finish completes while credit is away", id);
}

void checker::at_end(const world& w) {
  after_step(w);
  for (std::size_t i = 0; i < w.finishes_.size(); ++i) {
    require(w.finishes_[i].complete, "a finish never completes", static_cast<int>(i));
  }
  for (const auto& t : w.tasks_) require(t.ended, "a task never ends", t.finish);
  for (const auto& here : w.remotes_)
    require(here.empty(), "a remote state is left at the end", -1);
  const auto given_back = w.counted_.returns + w.counted_.reply_returns;
  require(given_back <= w.counted_.quiescences, "a place gives back more than once", -1);
  const bool merges = w.settings_.late_reports || w.settings_.lazy_returns;
  require(merges || given_back == w.counted_.quiescences, "a place gives back less than once", -1);
}

// Tasks are identified by their tree node, and finishes by the tree node that opened them, so that
// states do not differ by the order in which tasks and finishes were made.
std::string checker::state(const world& w) {
  std::vector<std::string> parts;
  const auto put = [&](char tag, std::initializer_list<int> values) -> std::string& {
    std::string& part = parts.emplace_back(1, tag);
    for (const int v : values) part.append(reinterpret_cast<const char*>(&v), sizeof v);
    return part;
  };
  const auto tree_node = [&](int id) {
    return id < 0 ? -1 : w.tasks_[static_cast<std::size_t>(id)].tree_node;
  };
  const auto opener = [&](int f) {
    return f < 0 ? -1 : tree_node(w.finishes_[static_cast<std::size_t>(f)].opener);
  };
  for (std::size_t i = 0; i < w.finishes_.size(); ++i) {
    const auto& f = w.finishes_[i];
    std::string& part = put('f', {opener(static_cast<int>(i)), i == 0, static_cast<int>(f.count),
                                  f.complete, static_cast<int>(f.living)});
    finish_test_access::dump(f.ledger.state(), part);
  }
  for (const auto& t : w.tasks_) {
    put('t', {t.tree_node, t.place, opener(t.finish), t.finish == 0, t.step, t.ended, t.parked});
  }
  for (std::size_t place = 0; place < w.remotes_.size(); ++place) {
    for (const auto& [f, p] : w.remotes_[place]) {
      std::string& part =
          put('p', {static_cast<int>(place), opener(f), f == 0, static_cast<int>(p.count)});
      finish_test_access::dump(p.protocol.state(), part);
      finish_test_access::dump(p.protocol.links(), part);
      for (const auto& frame : p.frames) {
        const int values[] = {tree_node(frame.task), frame.to, opener(frame.holds)};
        part.append(reinterpret_cast<const char*>(values), sizeof values);
      }
    }
  }
  for (const auto& m : w.messages_) {
    std::string& part = put('m', {static_cast<int>(m.kind), m.from, m.to, opener(m.finish),
                                  m.finish == 0, tree_node(m.task), m.level, m.links});
    part.append(reinterpret_cast<const char*>(&m.credit), sizeof m.credit);
    part.append(reinterpret_cast<const char*>(&m.returned), sizeof m.returned);
  }
  for (const auto& r : w.reports_) {
    put('r',
        {r.place, opener(r.finish), r.finish == 0, tree_node(r.caller), static_cast<int>(r.what)});
  }
  std::ranges::sort(parts);
  std::string all;
  for (const std::string& part : parts) all.append(part);
  return all;
}

}  // namespace sim
