// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"

namespace apps {

// The options of a program that has a phaser with a tree.
struct phaser_tree {
  int tiers = 2;
  int degree = 2;

  void declare(command_line& line) {
    line.option("--tiers", tiers, 1, 8, "levels of a phaser that is a tree");
    line.option("--degree", degree, 1, 4096, "children of an inner tree node of that phaser");
  }
  // What is wrong with the combination of values, or an empty text.
  [[nodiscard]] std::string wrong() const {
    constexpr long most = 4096;
    long leaves = 1;
    for (int tier = 1; tier < tiers && leaves <= most; ++tier) leaves *= degree;
    return leaves <= most ? ""
                          : "the phaser would have more than 4096 leaves, --degree to the power of "
                            "--tiers - 1; choose a smaller --degree or fewer --tiers";
  }
  // Context: task.
  [[nodiscard]] apgas::phaser make(apgas::phaser_mode mode) const {
    return apgas::phaser(mode, tiers, degree);
  }
};

}  // namespace apps
