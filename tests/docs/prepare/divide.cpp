// SPDX-License-Identifier: Apache-2.0
// A task reads a row until another task takes it away, for the page about crashes.
#include <chrono>

#include <apgas/apgas.hpp>

namespace {

double values[] = {1, 2, 3};
double* volatile row = values;

}  // namespace

int main(int argc, char** argv) {
  return apgas::run(argc, argv, [] {
    apgas::finish([] {
      apgas::async(apgas::name("divide"), [] {
        while (true) {
          row[0] /= 2;
          apgas::sleep_for(std::chrono::milliseconds(30));
        }
      });
      apgas::async(apgas::name("clean up"), [] {
        apgas::sleep_for(std::chrono::milliseconds(105));
        row = nullptr;
      });
    });
  });
}
