// SPDX-License-Identifier: Apache-2.0

// k-means clustering by Lloyd's algorithm. Each place has a block of the points. In each round its
// workers sum up the points nearest to each centre. An allreduce of these sums, with a user-defined
// operation, gives all places the centres of the next round. Within a place the rounds are also
// written as loops in several forms (within_place.hpp).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "kmeans/lloyd.hpp"
#include "kmeans/within_place.hpp"
#include "support/command_line.hpp"
#include "support/loop_form.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using kmeans::add_clusters;
using kmeans::centres;
using kmeans::cluster;
using kmeans::outcome;
using kmeans::plan;
using kmeans::point;

constexpr std::size_t points_of_a_task = 512;

std::vector<cluster> assign_by_workers(std::span<const point> points, std::span<int> assigned,
                                       const centres& all) {
  const std::size_t tasks = (points.size() + points_of_a_task - 1) / points_of_a_task;
  return apgas::parallel_reduce(
      std::size_t{0}, tasks, std::vector<cluster>(all.size()),
      [&](std::size_t task) {
        const std::size_t first = task * points_of_a_task;
        const std::size_t n = std::min(points_of_a_task, points.size() - first);
        return kmeans::assign(points.subspan(first, n), assigned.subspan(first, n), all);
      },
      add_clusters());
}

struct data {
  apgas::dist_array<point> points;
  apgas::dist_array<int> assigned;
};

outcome cluster_at_this_place(const plan& p, const data& d) {
  const apgas::team team = apgas::team::world();
  return kmeans::cluster_points(p, [&](const centres& all) {
    std::vector<cluster> sums = assign_by_workers(d.points.local(), d.assigned.local(), all);
    team.allreduce(std::span(sums), add_clusters());
    return sums;
  });
}

struct result {
  outcome found;
  std::vector<int> assigned;
  bool agree;  // all places have the same centres
  double seconds;
};

result cluster_over_places(const plan& p) {
  const auto size = static_cast<std::size_t>(p.points);
  const data d{{size, apgas::distribution::block(), [p](std::size_t i) { return p.point_at(i); }},
               {size, apgas::distribution::block(), [](std::size_t) { return -1; }}};
  const apps::stopwatch clock;
  std::vector<apgas::future<outcome>> all;
  for (const apgas::place q : apgas::places()) {
    all.push_back(apgas::async_future_at(q, [p, d] { return cluster_at_this_place(p, d); }));
  }
  bool agree = true;
  const outcome o = all.front().get();
  for (const auto& each : all) agree = agree && each.get().final_centres == o.final_centres;
  const double seconds = clock.seconds();
  result r{o, d.assigned.gather(), agree, seconds};
  d.points.destroy();
  d.assigned.destroy();
  return r;
}

result cluster_in_form(const plan& p, apps::loop_form& form) {
  kmeans::clustering c = kmeans::cluster_within_place(p, form);
  return {std::move(c.found), std::move(c.assigned), true, c.seconds};
}

int cluster_and_report(const plan& p, const std::string& variant, apps::loop_form& form) {
  const result r = variant == "places" ? cluster_over_places(p) : cluster_in_form(p, form);
  const kmeans::check_result checked = kmeans::check(p, r.found, r.assigned);
  return apps::report("kmeans", r.seconds, r.agree && checked.right(),
                      {{"variant", variant},
                       {"points", p.points},
                       {"clusters", p.clusters},
                       {"rounds", r.found.rounds},
                       {"difference", checked.difference},
                       {"wrong", checked.wrong},
                       {"inertia", checked.inertia}});
}

}  // namespace

int main(int argc, char** argv) {
  plan p{.points = 10'000'000, .clusters = 30, .rounds = 10, .seed = 1};
  apps::command_line line("kmeans",
                          "Finds clusters of points that are distributed over the places.");
  line.option("-n,--points", p.points, 1, 100'000'000, "points of three coordinates");
  line.option("-k,--clusters", p.clusters, 1, 4096, "clusters, at most as many as points");
  line.option("--rounds", p.rounds, 0, 1'000'000,
              "largest number of rounds; fewer if no point changes");
  std::string variant = "places";
  apps::loop_form::declare(line, variant, {variant},
                           "over all places, or the form of the loop within a place");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the points");
  if (const auto code = line.parse(argc, argv)) return *code;
  if (p.points < p.clusters) return line.refuse("--clusters: more clusters than points");
  apps::loop_form form(variant);
  return apgas::run(argc, argv, [&] {
    const apps::placement all = variant == "places" ? apps::placement_of_job() : apps::placement();
    if (const auto problem = apps::beyond_memory(p.bytes(all)); !problem.empty()) {
      return line.refuse("--points: " + problem + "; choose fewer");
    }
    return cluster_and_report(p, variant, form);
  });
}
