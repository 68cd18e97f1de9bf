// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asserts that a trivially copyable type contains no pointer and no reference, so that its values
// may be sent to other places as their bytes. The library accepts most such types by itself.
// Specialise this variable for a type that it cannot examine, such as a union or a class with
// private members and a std::optional:
//
//   template <> inline constexpr bool apgas::send_as_bytes<my_type> = true;
//
// The library does not check the assertion. An address inside the value is meaningless at another
// place.

namespace apgas::inline v0 {

// Whether the program asserts that a T can be sent as its bytes.
template <class T>
inline constexpr bool send_as_bytes = false;

}  // namespace apgas::inline v0
