// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What the tasks of one place wait for, condensed for a report over all places (job_report.hpp):
// equal tasks are one entry, however many there are, and what several places know of has a name
// that is the same at all of them. All of it is text and numbers, so that it can be sent
// (archive.hpp).
namespace apgas::inline v0::scheduler {

// What a cycle of waiting tasks leads through. If it leads through several of these, the last one
// in this order counts, since its remedy is the simplest.
enum class cycle_kind : std::uint8_t { none, other, collective, mutex, phase };

// Whether a cycle is searched in a wait-for graph, or all of its edges are told: then no edge is
// left out, and tasks that run are nodes, too.
enum class graph_purpose : std::uint8_t { cycle, edges };

struct place_waits {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr const char* runs = "";  // the construct of a task that does not wait

  // Tasks that wait in the same construct at the same line, and share spawn site and name.
  struct group {
    std::string construct;  // with the line, if it is known
    std::string task;       // name and spawn site
    std::uint64_t count = 0;
    double longest_s = 0;   // the longest wait among them, as far as looks have seen it
    bool at_least = false;  // the looks were few: it may have begun long before the first one

    template <class Archive>
    void serialize(Archive& a) {
      a(construct, task, count, longest_s, at_least);
    }
  };

  // The wait-for graph. A task entry stands for tasks of one group that wait for the same object
  // entry; an object entry stands for one object, or for several of one kind if there are many.
  struct task {
    std::string text;       // name and spawn site
    std::string construct;  // in which they wait
    std::string line;       // of the call; may be empty
    std::uint32_t object = none;
    std::uint64_t count = 0;
    std::string mode;  // of the registration on the object; may be empty

    template <class Archive>
    void serialize(Archive& a) {
      a(text, construct, line, object, count, mode);
    }
  };
  struct object {
    std::string name;  // the same at all places; empty: only this place knows the object
    std::string kind;
    std::string made;  // the line; may be empty
    std::int64_t phase = -1;
    int place = -1;  // of a call: the place that runs it
    std::uint64_t count = 0;

    template <class Archive>
    void serialize(Archive& a) {
      a(name, kind, made, phase, place, count);
    }
  };
  // Objects that cannot go on before a task does, and why.
  struct need {
    std::uint32_t object = none;
    std::uint32_t task = none;
    std::uint64_t count = 0;  // of the objects of the entry, so many need a task of that entry
    std::string relation;
    std::uint64_t tasks = 0;       // of the entry, so many are needed by an object
    bool perhaps_another = false;  // another task may do the same (releaser)

    template <class Archive>
    void serialize(Archive& a) {
      a(object, task, count, relation, tasks, perhaps_another);
    }
  };

  // A team whose collective calls a task of this place makes or waits in.
  struct team {
    std::string name;
    std::uint32_t calls = 0;  // the number of the last call
    bool waits = false;
    std::string call;          // in which the place waits, with its line
    std::vector<int> members;  // the places
    std::string object;        // the name of the object that a task which waits in it waits for

    template <class Archive>
    void serialize(Archive& a) {
      a(name, calls, waits, call, members, object);
    }
  };

  int place = 0;
  bool asleep = false;  // no worker ran a task, so the graph is complete
  std::uint64_t tasks = 0;
  std::vector<group> groups;  // the largest ones
  // A line for each worker that runs tasks, or if none does, why this need not be a deadlock.
  std::vector<std::string> running;
  std::string cycle;  // tasks of this place that wait for each other, as a sentence
  cycle_kind kind_of_cycle = cycle_kind::none;
  bool cycle_is_certain = false;  // no other task can let one of them go on
  std::vector<task> graph_tasks;
  std::vector<object> objects;
  std::vector<need> needs;
  std::uint64_t not_in_graph = 0;  // tasks that are left out of it, since there are too many
  std::vector<team> teams;

  template <class Archive>
  void serialize(Archive& a) {
    a(place, asleep, tasks, groups, running, cycle, kind_of_cycle, cycle_is_certain, graph_tasks,
      objects, needs, not_in_graph, teams);
  }
};

}  // namespace apgas::inline v0::scheduler
