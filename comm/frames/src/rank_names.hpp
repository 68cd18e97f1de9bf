// SPDX-License-Identifier: Apache-2.0
#pragma once

// How ranks and their hosts are called in what ranks tell each other at the start, and in messages.

#include <cstddef>
#include <string>
#include <vector>

namespace apgas::inline v0::comm {

// A text in a field of a record: all of it, or up to the first zero.
std::string text_of(const char* field, std::size_t bytes);

// This host's name into such a field, which was zero before; "?" where it has none.
void write_host_name(char* field, std::size_t bytes) noexcept;

// "rank 2 (host b)", or "ranks 2, 3, 4, 5 and 9 more (host b)", with the first one's host.
std::string names_of(const std::vector<std::size_t>& ranks, const std::string& first_host);

}  // namespace apgas::inline v0::comm
