// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace apgas::inline v0::comm {

// Whether the objects of a type belong to the place that made them and cannot be sent, although
// they can be copied. A type declares it by a specialisation.
template <class T>
inline constexpr bool bound_to_place = false;

}  // namespace apgas::inline v0::comm
