// SPDX-License-Identifier: Apache-2.0
// The driver of the state machines. The order of the operations is the one that a runtime needs.
#include <algorithm>

#include "sim_finish_world.hpp"

namespace sim {

world::remote& world::remote_of(int place, int f) {
  const auto [found, made] = remotes(place).try_emplace(f, settings_.broken);
  if (made) ++of(f).remotes;
  return found->second;
}

// Removes one of the reasons why a place is not quiescent.
void world::gone(remote& p) {
  if (--p.present == 0) ++counted_.quiescences;
}

// Returns whether the message is a cost of the finish; tasks and replies are sent in any case.
bool world::is_of_protocol(const message& m) {
  return m.kind != message_kind::task && m.kind != message_kind::reply;
}

void world::post(message m) {
  m.number = counted_.steps;
  m.round = round_ + 1;
  if (settings_.seen != nullptr && is_of_protocol(m)) {
    settings_.seen->add(m.from, m.to, m.kind == message_kind::returned ? sizeof m.returned : 0);
  }
  ++of(m.finish).messages;
  messages_.push_back(m);
}

void world::post_task(int from, int to, int f, int id, std::uint64_t credit) {
  ++counted_.frames;
  message m{message_kind::task, from, to, f, credit, {}, id};
  if (from != of(f).home) m.level = link(remote_of(from, f), from, to, f, id);
  post(m);
}

std::uint8_t world::link(remote& p, int from, int to, int f, int id) {
  if (to == from || to == of(f).home || at(id).caller >= 0) return 0;
  const std::uint8_t level = p.protocol.link(static_cast<std::uint8_t>(settings_.links),
                                             static_cast<std::uint8_t>(settings_.levels));
  if (level != 0) ++p.present;
  return level;
}

// A task of finish f that counts at `from` spawns task `id` at `to`.
void world::send_task(int from, int to, int f, int id) {
  if (from == to && !settings_.self_frames) {
    hold(from, f);
    at(id).place = to;
    ready(id);
  } else if (from == of(f).home) {
    const auto minted = of(f).ledger.mint(settings_.share);
    take_credit_count(f, minted.takes_count);
    post_task(from, to, f, id, minted.share);
  } else {
    remote& p = remote_of(from, f);
    const auto split = p.protocol.split(false);
    if (split.share != 0) {
      post_task(from, to, f, id, split.share);
    } else {
      p.frames.push_back({id, to, -1});
      ++p.present;
    }
    if (split.ask) post({message_kind::request, from, of(f).home, f});
  }
}

// A task of an inner finish spawns a task into the root finish, which has number 0.
void world::send_escaping(int sender, int to, int id) {
  const int from = at(sender).place;
  if (from == of(0).home) return send_task(from, to, 0, id);
  remote& p = remote_of(from, 0);
  const auto split = p.protocol.split(true);
  if (split.share != 0) {
    post_task(from, to, 0, id, split.share);
  } else {
    const bool holds = settings_.broken != fault::escaping_spawn_does_not_hold;
    if (holds) hold(from, at(sender).finish);
    p.frames.push_back({id, to, holds ? at(sender).finish : -1});
    ++p.present;
  }
  if (split.ask) post({message_kind::request, from, of(0).home, 0});
}

// After a grant: sends the frames that waited, as far as the credit suffices.
void world::drain(int place, int f) {
  remote& p = remote_of(place, f);
  while (!p.frames.empty()) {
    const auto next = p.protocol.next_waiting();
    if (next.share == 0) {
      post({message_kind::request, place, of(f).home, f});
      return;
    }
    const waiting_frame frame = p.frames.front();
    p.frames.pop_front();
    post_task(place, frame.to, f, frame.task, next.share);
    gone(p);
    if (frame.holds >= 0) leave(place, frame.holds, -1);
    if (settings_.broken == fault::only_first_waiting_frame_leaves) return;
  }
  if (p.protocol.quiescent()) on_quiescent(place, f);
}

// Adds a pending count to the counter of f at this place, on behalf of a task that is counted
// there.
void world::hold(int place, int f) {
  if (place == of(f).home) {
    ++of(f).count;
  } else {
    ++remote_of(place, f).count;
    ++remote_of(place, f).present;
  }
}

// Releases a pending count. `caller` is the caller of the at whose body held it, or -1.
void world::leave(int place, int f, int caller) {
  if (place == of(f).home) {
    if (caller >= 0) reply(place, f, caller, {});
    drop_home(f);
    return;
  }
  remote& p = remote_of(place, f);
  gone(p);
  if (--p.count == 0) {
    const report r{duty::report_idle, place, f, caller};
    if (settings_.late_reports) {
      reports_.push_back(r);
    } else {
      on_zero(r);
    }
    return;
  }
  returned_credit early;
  if (settings_.broken == fault::reply_from_busy_place && caller >= 0 &&
      at(caller).place != place) {
    early.low = static_cast<std::uint64_t>(p.protocol.state().pool());
    finish_test_access::pool(p.protocol.state()) = 0;
  }
  if (caller >= 0) reply(place, f, caller, early);
}

void world::on_duty(const report& r) {
  switch (r.what) {
    case duty::report_idle:
      on_zero(r);
      break;
    case duty::drain:
      drain(r.place, r.finish);
      break;
    case duty::give_back:  // unless something has arrived meanwhile
      if (remotes(r.place).contains(r.finish) &&
          remote_of(r.place, r.finish).protocol.quiescent()) {
        give_back(r.place, r.finish, -1);
      }
      break;
  }
}

void world::on_zero(const report& r) {
  const auto found = remotes(r.place).find(r.finish);
  if (found == remotes(r.place).end())
    throw violation("a remote state is gone before its last report");
  tested_remote& protocol = found->second.protocol;
  protocol.on_idle();
  const bool stays =
      protocol.links().linked() && settings_.broken != fault::reply_from_linked_place;
  if (!protocol.quiescent()) {
    if (r.caller >= 0) reply(r.place, r.finish, r.caller, {});
  } else if (r.caller >= 0 && stays) {
    reply(r.place, r.finish, r.caller, {});
    on_quiescent(r.place, r.finish);
  } else if (r.caller >= 0) {
    give_back(r.place, r.finish, r.caller);
  } else {
    on_quiescent(r.place, r.finish);
  }
}

void world::on_quiescent(int place, int f) {
  if (settings_.lazy_returns) {
    reports_.push_back({duty::give_back, place, f});
  } else {
    give_back(place, f, -1);
  }
}

void world::give_back(int place, int f, int caller) {
  const returned_credit all = remote_of(place, f).protocol.give_back();
  const tree_return::target to = remote_of(place, f).protocol.give_back_links();
  remotes(place).erase(f);
  --of(f).remotes;
  if (caller >= 0) {
    ++counted_.reply_returns;
    reply(place, f, caller, all);
    if (settings_.broken != fault::reply_and_return) return;
  }
  ++counted_.returns;
  message m{message_kind::returned, place, of(f).home, f, 0, all};
  if (to.place != tree_return::to_home && settings_.broken != fault::linked_place_returns_home) {
    m.to = to.place;
    m.links = to.links;
  }
  post(m);
}

void world::reply(int from, int f, int caller, returned_credit returned) {
  post({message_kind::reply, from, at(caller).place, f, 0, returned, caller});
}

void world::take_credit_count(int f, bool takes) {
  if (!takes) return;
  ++of(f).count;
  ++of(f).credit_counts;
}

void world::release_credit_count(int f) {
  --of(f).credit_counts;
  drop_home(f);
}

void world::drop_home(int f) {
  if (--of(f).count < 0) throw violation("the counter at home is below zero");
  if (of(f).count == 0) complete(f);
}

void world::receive(const message& m) {
  if (settings_.order != schedule::rounds) {
    std::int64_t& youngest = youngest_[{m.from, m.to}];
    counted_.overtakings += m.number < youngest;
    youngest = std::max(youngest, m.number);
  }
  if (of(m.finish).complete) throw violation("a message for a finish that is complete");
  switch (m.kind) {
    case message_kind::task:
      receive_task(m);
      break;
    case message_kind::release:
      receive_from_child(m);
      break;
    case message_kind::returned:
      if (m.to != of(m.finish).home) {
        receive_from_child(m);
      } else if (of(m.finish).ledger.on_return(m.returned))
        release_credit_count(m.finish);
      break;
    case message_kind::reply: {
      at(m.task).parked = false;
      ready(m.task);
      if (m.returned.credit() == 0) break;
      if (m.to != of(m.finish).home) {
        remote_of(m.to, m.finish).protocol.on_reply(m.returned);
      } else if (of(m.finish).ledger.on_return(m.returned)) {
        release_credit_count(m.finish);
      }
      break;
    }
    case message_kind::request: {
      ++counted_.requests;
      if (settings_.broken == fault::request_is_ignored) break;
      const auto minted = of(m.finish).ledger.on_request(settings_.share);
      take_credit_count(m.finish, minted.takes_count);
      post({message_kind::grant, m.to, m.from, m.finish, minted.share});
      break;
    }
    case message_kind::grant:
      remote_of(m.to, m.finish).protocol.on_grant(m.credit);
      if (settings_.late_reports) {
        reports_.push_back({duty::drain, m.to, m.finish});
      } else {
        drain(m.to, m.finish);
      }
      break;
  }
}

// A child releases links, and returns its credit if the message is a return.
void world::receive_from_child(const message& m) {
  const auto found = remotes(m.to).find(m.finish);
  if (found == remotes(m.to).end()) throw violation("a parent is gone before its child");
  remote& p = found->second;
  if (m.kind == message_kind::returned) {
    p.protocol.on_return(m.returned, m.links);
  } else {
    p.protocol.on_release(m.links);
  }
  for (std::uint8_t i = 0; i < m.links; ++i) gone(p);
  if (p.protocol.quiescent()) on_quiescent(m.to, m.finish);
}

void world::receive_task(const message& m) {
  const int f = m.finish;
  if (m.to == of(f).home) {
    const bool first_count = settings_.broken != fault::home_credit_before_count;
    if (first_count) ++of(f).count;  // before the credit is received
    if (of(f).ledger.on_arrival(m.credit)) release_credit_count(f);
    if (!first_count) ++of(f).count;
  } else {
    remote& p = remote_of(m.to, f);
    const bool wakes = p.count == 0;
    if (wakes && !p.protocol.state().empty()) ++counted_.revivals;
    ++p.count;
    ++p.present;
    const std::uint8_t released = p.protocol.on_arrival(m.credit, wakes, m.from, m.level);
    if (released != 0 && settings_.broken != fault::release_is_lost) {
      ++counted_.releases;
      message back{message_kind::release, m.to, m.from, f};
      back.links = released;
      post(back);
    }
  }
  at(m.task).place = m.to;
  ready(m.task);
}

}  // namespace sim
