// SPDX-License-Identifier: Apache-2.0
#pragma once

// An exchange in which every rank has values of any number for every other rank, by
// MPI_Alltoallv: the counterpart of support/exchange.hpp.

#include <cstddef>
#include <numeric>
#include <vector>

#include <mpi.h>

namespace peers {

template <class T>
struct arrivals {
  std::vector<T> values;            // those of rank 0, then those of rank 1, ...
  std::vector<std::size_t> bounds;  // those of rank i are [bounds[i], bounds[i + 1])
};

// How many times the data of a rank are in its memory during an exchange: those that it sends, the
// same one after another, and those that it receives.
constexpr int copies_in_exchange = 3;

// Sends outgoing[i] to rank i, and returns what the ranks had for this one. T must be trivially
// copyable. Called by all ranks.
template <class T>
arrivals<T> exchange(const std::vector<std::vector<T>>& outgoing) {
  const std::size_t n = outgoing.size();
  std::vector<int> out(n);
  std::vector<int> in(n);
  std::vector<T> leaving;
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<int>(outgoing[i].size());
    leaving.insert(leaving.end(), outgoing[i].begin(), outgoing[i].end());
  }
  MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> out_first(n);
  std::vector<int> in_first(n);
  std::exclusive_scan(out.begin(), out.end(), out_first.begin(), 0);
  std::exclusive_scan(in.begin(), in.end(), in_first.begin(), 0);
  arrivals<T> all;
  all.bounds.assign(in_first.begin(), in_first.end());
  all.bounds.push_back(all.bounds.back() + static_cast<std::size_t>(in.back()));
  all.values.resize(all.bounds.back());
  MPI_Datatype value = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &value);
  MPI_Type_commit(&value);
  MPI_Alltoallv(leaving.data(), out.data(), out_first.data(), value, all.values.data(), in.data(),
                in_first.data(), value, MPI_COMM_WORLD);
  MPI_Type_free(&value);
  return all;
}

}  // namespace peers
