// SPDX-License-Identifier: Apache-2.0
#pragma once

// Divides the cores of a host among its places. The division is a pure function of the data that
// the places exchange at the start. So each place computes the same division, and no further
// message is needed. Decision 0016 gives the reasons.
//
// Rules
//   R1  A place uses only processors of its affinity mask. A processor that is in one mask only
//       belongs to that place.
//   R2  A processor that is in several masks belongs to one of these places. The division is as
//       even as the masks allow: no place can get one more processor without another place falling
//       behind it. Places with equal masks get adjacent processors in the order of their ranks.
//   R3  A CPU limit is divided evenly among the places whose process is in its cgroup or below it.
//       While another place can use more processors, a place gets no more than its limits allow or
//       the user asked for.
//   R4  A place has as many workers as the user asked for; otherwise one for each of its
//       processors, but no more than its limits allow. It always has at least one.
//   R5  The workers of a place are bound to its processors, unless the user forbids it, there are
//       fewer processors than workers, a limit allows fewer than all of them, or oversubscribed
//       places may run on them.
//   R6  A place is oversubscribed if more workers than processors run on the processors that it
//       uses, or if its cgroup has more workers than the limit has cores.
//
// Workers run on logical processors, so these are divided. Two hardware threads of one core may
// belong to different places, which then slow each other down, but never wait for each other.

#include <span>
#include <vector>

#include <apgas/base/place_cores.hpp>

namespace apgas::inline v0::scheduler {

// A core of the host, or one hardware thread of a core that has several.
struct logical_processor {
  int number = 0;  // the number that Linux gives it
  int core = 0;    // the same for all hardware threads of one core

  bool operator==(const logical_processor&) const = default;
};

// The share of one place.
struct core_share {
  // The processors that belong to this place alone, in the order of the hardware. It may be empty
  // if there are more places than processors.
  std::vector<int> processors;
  int workers = 1;
  // The processor of each worker, distinct cores first. Empty: the workers run anywhere in the
  // affinity mask.
  std::vector<int> bound_to;
  // Whether other workers may need the processor on which a worker of this place searches for work.
  bool oversubscribed = false;
};

// Divides the processors of a host. `host` has its processors in the order of the hardware; a
// processor of a mask that it does not contain counts as a core of its own. `places` has the places
// of the host by rank; no element is null. If these do not see the same hardware, processors are
// ordered by their numbers, and each counts as a core. Returns the shares in the order of `places`.
// Requires: each place has a processor in its mask.
// Context: any thread.
// Cost: proportional to the number of processors times the number of places.
std::vector<core_share> divide_cores(const std::vector<logical_processor>& host,
                                     std::span<const base::place_cores* const> places);

}  // namespace apgas::inline v0::scheduler
