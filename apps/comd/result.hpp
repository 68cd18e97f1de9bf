// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a simulation reports: the outcomes of all slabs together, checked. Does not use the library.

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "comd/check.hpp"
#include "comd/run_slab.hpp"
#include "support/report.hpp"

namespace comd {

struct result {
  double seconds = 0;  // of the slowest slab
  findings found;
  apps::figures figures;
};

// Prints on stderr what is wrong, if something is.
inline result combine(const std::string& app, const problem& p,
                      const std::vector<slab_outcome>& slabs) {
  const cube c(p.lattice);
  result r;
  outcome all;
  std::vector<history> histories;
  for (const slab_outcome& s : slabs) {
    r.seconds = std::max(r.seconds, s.seconds);
    all.atoms.insert(all.atoms.end(), s.atoms.begin(), s.atoms.end());
    histories.push_back(s.energies_of_step);
  }
  all.energies_of_step = add_up(histories, static_cast<std::size_t>(p.steps));
  r.found = check(c, all);
  if (!r.found.wrong.empty()) std::cerr << app << ": " << r.found.wrong << '\n';
  std::ostringstream digest;
  digest << std::hex << std::setfill('0') << std::setw(16) << r.found.digest;
  r.figures = {{"lattice", p.lattice},
               {"atoms", static_cast<std::int64_t>(c.atoms())},
               {"steps", p.steps},
               {"energy", all.energies_of_step.front().total() / c.atoms()},
               {"final_energy", all.energies_of_step.back().total() / c.atoms()},
               {"energy_error", r.found.energy_error},
               {"energy_change", r.found.energy_change},
               {"final_change", r.found.final_change},
               {"drift", r.found.drift},
               {"momentum", r.found.momentum},
               {"force_error", r.found.force_error},
               {"digest", digest.str()},
               {"us_per_atom", r.seconds * 1e6 / p.steps / c.atoms()}};
  return r;
}

}  // namespace comd
