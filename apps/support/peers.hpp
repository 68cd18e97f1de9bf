// SPDX-License-Identifier: Apache-2.0
#pragma once

// The variants of a program that run on another library, as peers of this one: "openmp" and "tbb"
// (oneTBB). Whether a program has them is decided when it is configured: with OpenMP the compiler
// defines _OPENMP, and with oneTBB CMakeLists.txt defines APPS_TBB. If the peers of a program are
// in a second program, APPS_PEERS_REMEDY says what to do.

#include <string>
#include <utility>
#include <vector>

#include "support/command_line.hpp"

namespace apps {

// Returns the names of `own` variants, followed by the peers with which this program is built.
inline std::vector<std::string> with_built_peers(std::vector<std::string> own) {
#if defined(_OPENMP)
  own.emplace_back("openmp");
#endif
#if defined(APPS_TBB)
  own.emplace_back("tbb");
#endif
  return own;
}

// Returns each peer with which this program is not built, the reason, and the remedy.
inline refusals missing_peers() {
  refusals missing;
#if defined(APPS_PEERS_REMEDY)
  for (const char* peer : {"openmp", "tbb"}) {
    missing.emplace_back(peer, "is not built into this program; " APPS_PEERS_REMEDY " instead");
  }
#else
  [[maybe_unused]] const auto add = [&missing](const char* peer, const std::string& library,
                                               const std::string& package) {
    missing.emplace_back(peer, "is not built into this program, because " + library +
                                   " was not found: apt install " + package +
                                   ", then configure and build again, or choose another variant");
  };
#if !defined(_OPENMP)
  add("openmp", "OpenMP", "libgomp1, or libomp-dev for clang");
#endif
#if !defined(APPS_TBB)
  add("tbb", "oneTBB", "libtbb-dev");
#endif
#endif
  return missing;
}

inline bool is_peer(const std::string& variant) { return variant == "openmp" || variant == "tbb"; }

// Declares the option --variant, whose values are those of `own` and the peers of the program.
inline void declare_variant(command_line& line, std::string& value, std::vector<std::string> own,
                            const std::string& help) {
  line.choice("--variant", value, with_built_peers(std::move(own)), help, missing_peers());
}

// The same for a program that has no variant by oneTBB.
inline void declare_variant_beside_openmp(command_line& line, std::string& value,
                                          std::vector<std::string> own, const std::string& help) {
  refusals missing = missing_peers();
  std::erase_if(missing, [](const auto& peer) { return peer.first == "tbb"; });
  line.choice("--variant", value, with_built_peers(std::move(own)), help, missing);
}

}  // namespace apps
