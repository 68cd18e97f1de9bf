// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who tells whom that main has returned: place 0 tells the first places, and each of those hands it
// on, so that nobody sends many messages. A place sends no message of a task afterwards.
namespace apgas::inline v0::launch {

inline constexpr int end_fan_out = 8;

// tell(place) for each that `here` tells.
template <class Tell>
void for_each_told_by(int here, int places, Tell tell) {
  for (long long to = static_cast<long long>(here) * end_fan_out + 1, i = 0;
       i < end_fan_out && to < places; ++to, ++i) {
    tell(static_cast<int>(to));
  }
}

// Who tells that place; place 0 is told by nobody: -1.
constexpr int told_by(int place) { return place == 0 ? -1 : (place - 1) / end_fan_out; }

}  // namespace apgas::inline v0::launch
