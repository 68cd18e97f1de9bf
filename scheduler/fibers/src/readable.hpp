// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>

// Whether texts can still be read, for handlers of signals: a crash may have overwritten the
// pointer, and a library that held the text may have been unloaded. The system looks at the
// addresses, and does not crash.
namespace apgas::inline v0::scheduler {

// Context: any thread, signal handlers.
bool is_text(const void* at) noexcept;
// Whether the file and the function of the location can be read; also true if it has none.
bool is_readable(const std::source_location& site) noexcept;

}  // namespace apgas::inline v0::scheduler
