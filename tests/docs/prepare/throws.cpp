// SPDX-License-Identifier: Apache-2.0
// A program whose tasks throw at two places, for the page about errors.
#include <exception>
#include <stdexcept>

#include <apgas/apgas.hpp>

struct parse_error : std::exception {
  const char* what() const noexcept override { return "a bad row"; }
};

int main(int argc, char** argv) {
  return apgas::run(argc, argv, [] {
    apgas::async_at(apgas::place(1), [] { throw parse_error(); });
    apgas::async(apgas::name("relax"), [] { throw std::out_of_range("row 7"); });
  });
}
