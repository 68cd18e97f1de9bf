// SPDX-License-Identifier: Apache-2.0
#pragma once

// The user's word that a trivially copyable type holds no pointer and no reference, where the
// library cannot see it (a union, or private members beside a std::optional):
//
//   template <> inline constexpr bool apgas::send_as_bytes<my_type> = true;

namespace apgas::inline v0 {

template <class T>
inline constexpr bool send_as_bytes = false;

}  // namespace apgas::inline v0
