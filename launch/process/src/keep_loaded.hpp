// SPDX-License-Identifier: Apache-2.0
#pragma once

// The library in a module that is loaded by dlopen, such as an extension of Python.
namespace apgas::inline v0::launch {

// Keeps the shared library or module that this code is in loaded until the process ends: handlers
// of signals and of exit refer to it, and so does memory that is never given back. dlclose then
// leaves it where it is. Does nothing in a program's own code. Context: any thread.
void keep_loaded() noexcept;

}  // namespace apgas::inline v0::launch
