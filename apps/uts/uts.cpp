// SPDX-License-Identifier: Apache-2.0

// The Unbalanced Tree Search benchmark: counts the nodes of a tree whose shape is known only by
// searching it. At one place each tree node is a task; over several places glb balances bags of
// tree nodes. See README.md for the official flags and trees.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/peer_thread.hpp"
#include "support/peers.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"
#include "uts/search.hpp"
#include "uts/search_recursively.hpp"
#include "uts/serial.hpp"
#include "uts/tree_flags.hpp"

namespace {

// Trees without published numbers are searched again up to this size; larger ones only on request.
constexpr std::uint64_t small_tree = 5'000'000;

struct options {
  uts::search_options search;
  std::string variant = "tasks";
  bool serial = false;
  bool glb = false;
  bool statistics = false;
  bool verify = false;

  [[nodiscard]] bool by_bags() const {
    return !serial && (glb || (variant == "tasks" && apgas::num_places() > 1));
  }
  [[nodiscard]] bool by_peer() const { return apps::is_peer(variant); }
  [[nodiscard]] std::string used_variant() const {
    return serial ? "serial" : by_bags() ? "glb" : variant;
  }
};

uts::search_result search(const options& o, std::optional<apps::peer_thread>& peer) {
  if (o.by_bags()) return uts::search_by_bags(o.search);
  if (peer) return uts::search_by_peer(o.variant, o.search, *peer);
  if (o.variant == "recursive") return uts::search_by_sync_vars(o.search);
  if (!o.serial) return uts::search_by_tasks(o.search);
  const uts::tree tree = o.search.make_tree();
  const apps::stopwatch clock;
  const uts::counts total = uts::search_serially(tree);
  uts::search_result result;
  result.total = total;
  result.nodes_of_place = {total.nodes};
  result.bags = 1;
  result.seconds = clock.seconds();
  return result;
}

// The independent answer, unless it would take long and was not requested.
std::optional<uts::counts> expected(const options& o, const uts::counts& found) {
  const uts::known_tree* known = uts::find_known_tree(o.search.tree);
  if (known != nullptr) return known->result;
  if (o.verify || found.nodes <= small_tree) return uts::search_by_path(o.search.tree);
  std::cerr << "uts: not verified: this tree has no published numbers; --verify searches it again, "
               "serially\n";
  return std::nullopt;
}

double share_of(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

int search_and_report(const options& o, std::optional<apps::peer_thread>& peer) {
  const uts::search_result result = search(o, peer);
  const uts::counts& found = result.total;
  const uts::known_tree* known = uts::find_known_tree(o.search.tree);
  const auto [least, most] = std::ranges::minmax(result.nodes_of_place);
  const bool verified = expected(o, found) == found;
  if (o.statistics && o.by_bags()) std::cout << result.balancing;
  return apps::report("uts", result.seconds, verified,
                      {{"tree", known != nullptr ? known->name : std::string("unnamed")},
                       {"variant", o.used_variant()},
                       {"nodes", found.nodes},
                       {"leaves", found.leaves()},
                       {"depth", found.depth},
                       {"nodes_per_second", static_cast<double>(found.nodes) / result.seconds},
                       {"least_share", share_of(least, found.nodes)},
                       {"largest_share", share_of(most, found.nodes)},
                       {"bags", result.bags}});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("uts", "Unbalanced Tree Search, with the benchmark's official flags");
  const uts::tree_flags flags(line);
  apps::declare_variant(line, o.variant, {"tasks", "recursive"}, "the search within a place");
  line.option("--granularity", o.search.granularity, 1, std::numeric_limits<int>::max(),
              "nodes that a task expands by itself; glb: between checks");
  line.flag("--portable", o.search.portable, "do not use the processor's SHA instructions");
  line.flag("--glb", o.glb, "balance bags of nodes by glb at one place, too");
  line.flag("--statistics", o.statistics, "print how work moved between places (with glb)");
  line.flag("--serial", o.serial, "search without tasks: the program to compare with");
  line.flag("--verify", o.verify, "search a large unnamed tree again to verify the counts");
  if (const auto code = line.parse(argc, argv)) return *code;
  o.search.tree = flags.chosen();
  const std::string_view problem = uts::why_unsearchable(o.search.tree);
  if (!problem.empty()) return line.refuse(std::string(problem));

  if (o.variant != "tasks" && (o.serial || o.glb || o.search.granularity > 1)) {
    return line.refuse("--variant " + o.variant +
                       " cannot be combined with --serial, --glb or --granularity; omit one");
  }
  std::optional<apps::peer_thread> peer;
  if (o.by_peer()) peer.emplace();
  apgas::config settings;
  if (o.variant == "recursive") settings.stack_bytes = std::size_t{16} << 20;  // for deep trees
  return apgas::run(argc, argv, settings, [&] { return search_and_report(o, peer); });
}
