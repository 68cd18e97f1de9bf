// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "sim_finish_world.hpp"

namespace sim {

world::world(settings s, script& program, choice& chooser)
    : settings_(s),
      script_(program),
      choice_(chooser),
      remotes_(static_cast<std::size_t>(s.places)) {
  tasks_.push_back({0, 0, -1, -1, {}});
  open(0);
  ready(0);
}

void world::run() {
  while (!ready_.empty() || !messages_.empty() || !reports_.empty()) {
    if (choice_.wants_state() && (settings_.order != schedule::tasks_first || ready_.empty()) &&
        choice_.known(checker::state(*this))) {
      return;
    }
    step();
    if (++counted_.steps % settings_.check_every == 0) checker::after_step(*this);
    if (counted_.steps > settings_.max_steps) throw violation("it does not end");
  }
  checker::at_end(*this);
}

// Chooses what happens next. Returns an index into ready_, messages_ and reports_, in this order.
std::uint32_t world::pick() {
  const auto tasks = static_cast<std::uint32_t>(ready_.size());
  const auto messages = static_cast<std::uint32_t>(messages_.size());
  const auto reports = static_cast<std::uint32_t>(reports_.size());
  if (settings_.order == schedule::rounds) return pick_in_rounds();
  if (settings_.order == schedule::messages_first && messages > 0) {
    return tasks + choice_.below(messages);
  }
  if (settings_.order != schedule::any && tasks > 0) return 0;
  std::uint32_t n = choice_.below(tasks + messages + reports);
  for (int again = 0; again < 20 && held_up(n); ++again) {
    n = choice_.below(tasks + messages + reports);
  }
  return n;
}

std::uint32_t world::pick_in_rounds() {
  const auto tasks = static_cast<std::uint32_t>(ready_.size());
  const auto messages = static_cast<std::uint32_t>(messages_.size());
  if (messages > 0 && messages_.front().round == round_) return tasks;
  if (tasks > 0) return 0;
  if (!reports_.empty()) return messages;
  round_ = messages_.front().round;
  return 0;
}

world::message world::take_message(std::uint32_t n) {
  const bool oldest = settings_.order == schedule::rounds;
  if (!oldest) std::swap(messages_[n], messages_.back());
  const message m = oldest ? messages_.front() : messages_.back();
  if (oldest) {
    messages_.pop_front();
  } else {
    messages_.pop_back();
  }
  --of(m.finish).messages;
  return m;
}

bool world::held_up(std::uint32_t n) {
  if (n < ready_.size()) return false;
  n -= static_cast<std::uint32_t>(ready_.size());
  bool slow = false;
  if (n < messages_.size()) {
    const message& m = messages_[n];
    slow = static_cast<int>(m.kind) == settings_.slow_kind || m.to == settings_.slow_place;
  } else {
    slow = reports_[n - messages_.size()].what == duty::give_back;
  }
  return slow && choice_.below(16) != 0;
}

void world::step() {
  const std::uint32_t n = pick();
  const auto tasks = static_cast<std::uint32_t>(ready_.size());
  const auto messages = static_cast<std::uint32_t>(messages_.size());
  if (n < tasks) {
    act(take_ready(n));
  } else if (n < tasks + messages) {
    receive(take_message(n - tasks));
  } else {
    std::swap(reports_[n - tasks - messages], reports_.back());
    const report r = reports_.back();
    reports_.pop_back();
    on_duty(r);
  }
}

void world::act(int id) {
  if (at(id).finish < 0) return end(id);  // main, after its finish
  const auto opened = static_cast<int>(at(id).outer.size());
  const action a = script_.next({at(id).place, at(id).tree_node, opened, at(id).step});
  ++at(id).step;
  switch (a.what) {
    case op::async_at:
    case op::at:
    case op::uncounted:
      spawn(id, a);
      break;
    case op::open_finish:
      open(id);
      break;
    case op::close_finish:
      at(id).parked = true;
      drop_home(at(id).finish);
      return;
    case op::end:
      end(id);
      return;
  }
  if (!at(id).parked) ready(id);
}

void world::spawn(int id, const action& a) {
  const bool call = a.what == op::at;
  const bool escaping = a.what == op::uncounted && at(id).finish != 0;
  const int child = new_task(a.tree_node, escaping ? 0 : at(id).finish, call ? id : -1);
  at(id).parked = call;
  if (escaping) {
    send_escaping(id, a.place, child);
  } else {
    send_task(at(id).place, a.place, at(id).finish, child);
  }
}

int world::new_task(int tree_node, int f, int caller) {
  tasks_.push_back({tree_node, -1, f, caller, {}});
  ++of(f).living;
  ++counted_.tasks;
  return static_cast<int>(tasks_.size()) - 1;
}

void world::ready(int id) {
  ready_.push_back(id);
  if (settings_.order == schedule::any) return;
  std::ranges::push_heap(ready_, std::greater{}, [this](int t) { return at(t).tree_node; });
}

int world::take_ready(std::uint32_t n) {
  if (settings_.order == schedule::any) {
    std::swap(ready_[n], ready_.back());
  } else {
    std::ranges::pop_heap(ready_, std::greater{}, [this](int t) { return at(t).tree_node; });
  }
  const int id = ready_.back();
  ready_.pop_back();
  return id;
}

void world::open(int id) {
  finishes_.push_back({at(id).place, id, tested_home(settings_.broken)});
  at(id).outer.push_back(at(id).finish);
  at(id).finish = static_cast<int>(finishes_.size()) - 1;
  ++counted_.finishes;
}

void world::complete(int f) {
  checker::on_complete(*this, f);
  of(f).complete = true;
  counted_.completed = round_;
  task& t = at(of(f).opener);
  t.finish = t.outer.back();
  t.outer.pop_back();
  t.parked = false;
  ready(of(f).opener);
}

void world::end(int id) {
  at(id).ended = true;
  const int f = at(id).finish;
  if (f < 0) return;  // main
  --of(f).living;
  counted_.last_end = round_;
  leave(at(id).place, f, at(id).caller);
}

std::string run(const settings& s, script& program, choice& chooser, counters* out) {
  world w(s, program, chooser);
  std::string wrong;
  try {
    w.run();
  } catch (const violation& v) {
    wrong = v.what();
  }
  if (out != nullptr) *out = w.counted();
  return wrong;
}

}  // namespace sim
