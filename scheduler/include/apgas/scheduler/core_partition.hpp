// SPDX-License-Identifier: Apache-2.0
#pragma once

// Divides the cores of a host among its places. A pure function of what the places told each other
// at the start, so that each of them computes the same division and no further message is needed.
// Decision 0016 has the reasons.
//
// Rules
//   R1  A place uses only processors of its affinity mask. A processor that is in one mask only
//       belongs to that place.
//   R2  A processor that is in several masks belongs to one of these places. The division is as
//       even as the masks allow: no place can get a processor more without another one falling
//       behind it. Places with equal masks take adjacent processors in the order of their ranks.
//   R3  A CPU limit is divided evenly among the places whose process is in its cgroup or below. A
//       place gets no more processors than it can use by its limits, or than the user asked for,
//       while another place can use them.
//   R4  A place has as many workers as the user asked for; otherwise one for each of its
//       processors, but no more than its limits allow; and always at least one.
//   R5  The workers of a place are bound to its processors, unless the user forbids it, or there
//       are too few of these, or a limit allows less than all of them, or other places have to
//       share them.
//   R6  A place is oversubscribed where more workers than processors run on what it uses, or more
//       than a limit has cores.
//
// The unit is the logical processor, as workers run on these: two hardware threads of one core may
// belong to different places, which then slow each other down, but need not wait for each other.

#include <span>
#include <vector>

#include <apgas/base/place_cores.hpp>

namespace apgas::inline v0::scheduler {

// A core of the host, or one hardware thread of a core that has several.
struct logical_processor {
  int number = 0;  // as Linux counts them
  int core = 0;    // the hardware threads of one core have the same

  bool operator==(const logical_processor&) const = default;
};

// The part of one place.
struct core_share {
  // The processors that belong to this place alone, in the order of the hardware. Empty where
  // there are more places than processors.
  std::vector<int> processors;
  int workers = 1;
  // The processor of each worker: distinct cores come first. Empty: the workers run anywhere in
  // the affinity mask.
  std::vector<int> bound_to;
  // Whether others wait for a processor while a worker of this place searches for work.
  bool oversubscribed = false;
};

// `host`: the processors of the host in the order of the hardware; those that it lacks count as
// cores of their own. `places`: the places of the host by rank, none null. Where these do not see
// the same hardware, the order is that of the numbers, and each processor counts as a core.
// Returns the shares in the order of `places`. Context: any thread. Cost: processors times places.
std::vector<core_share> divide_cores(const std::vector<logical_processor>& host,
                                     std::span<const base::place_cores* const> places);

}  // namespace apgas::inline v0::scheduler
