// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <apgas/scheduler/job_report.hpp>
#include <apgas/scheduler/place_waits.hpp>

// What places send for the reports of the tests in this folder.
namespace apgas::test {

using scheduler::job_report;
using scheduler::place_waits;

inline place_waits place(int number, std::uint64_t tasks = 1) {
  place_waits p;
  p.place = number;
  p.asleep = true;
  p.tasks = tasks;
  return p;
}

inline place_waits::object object(std::string name, std::uint64_t count) {
  place_waits::object o;
  o.name = std::move(name);
  o.count = count;
  return o;
}

// A task entry of `count` tasks that wait in an at for the object `name`, and that the object
// `needed_by` needs.
inline place_waits link(int number, const std::string& name, const std::string& needed_by,
                        std::uint64_t count = 1, std::uint64_t needs = 1) {
  place_waits p = place(number, count);
  p.objects = {object(name, count), object(needed_by, count)};
  p.graph_tasks.push_back({"spawned at a.cpp:" + std::to_string(number), "at",
                           "b.cpp:" + std::to_string(number), 0, count, ""});
  p.needs.push_back({1, 0, needs, "runs the body", needs});
  return p;
}

inline place_waits::team waits_in(const char* team, std::uint32_t call, const char* object) {
  place_waits::team t;
  t.name = team;
  t.calls = call;
  t.waits = true;
  t.call = "barrier at b.cpp:1";
  t.members = {0, 1};
  t.object = object;
  return t;
}

// Of two members, 0 waits in a collective and is needed by the finish f1, in which the only task
// of place 1 waits, which has not called it.
struct collective {
  place_waits waiting = place(0);
  place_waits absent = place(1);

  collective() {
    waiting.objects = {object("t0.1", 1), object("f1", 1)};
    waiting.graph_tasks.push_back(
        {"spawned at a.cpp:1", "a collective of a team", "b.cpp:1", 0, 1, ""});
    waiting.needs.push_back({1, 0, 1, "belongs to it", 1});
    waiting.teams.push_back(waits_in("t", 3, "t0.1"));
    absent.objects = {object("f1", 1)};
    absent.graph_tasks.push_back({"spawned at a.cpp:2", "finish", "b.cpp:2", 0, 1, ""});
    absent.teams.push_back(waits_in("t", 2, ""));
    absent.teams[0].waits = false;
  }
  std::string text(std::vector<place_waits> more = {}) const {
    job_report report(4);
    report.add(absent);
    report.add(waiting);
    for (place_waits& p : more) report.add(std::move(p));
    return report.text("");
  }
};

// A task that nothing keeps from going on once its object does, which no task is needed for.
inline place_waits other_task(int at) {
  place_waits p = place(at);
  p.objects = {object("", 1)};
  p.graph_tasks.push_back({"spawned at a.cpp:3", "semaphore::acquire", "b.cpp:3", 0, 1, ""});
  return p;
}

}  // namespace apgas::test
