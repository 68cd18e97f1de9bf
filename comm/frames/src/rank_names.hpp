// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names of ranks and hosts in the records of the start-up exchange and in messages to users.

#include <cstddef>
#include <string>
#include <vector>

#include <apgas/comm/rank.hpp>

namespace apgas::inline v0::comm {

// The text in a fixed-size field of a record: up to the first zero byte, or the whole field.
std::string text_of(const char* field, std::size_t bytes);

// Writes the name of this host into a zeroed field; "?" if the host has no name.
void write_host_name(char* field, std::size_t bytes) noexcept;
// The same for one of the ranks of a job. For tests: if APGAS_TEST_HOSTS is a number n, the ranks
// appear to be on n hosts, with consecutive ranks on each; a number is added to the name.
void write_host_name_of(rank here, rank ranks, char* field, std::size_t bytes) noexcept;

// Formats ranks with the host of the first one: "rank 2 (host b)", or "ranks 2, 3, 4, 5 and 9 more
// (host b)".
std::string names_of(const std::vector<std::size_t>& ranks, const std::string& first_host);

}  // namespace apgas::inline v0::comm
