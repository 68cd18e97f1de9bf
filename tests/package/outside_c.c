// SPDX-License-Identifier: Apache-2.0
// A program in C as a user would write it: it asks every place for its number, and adds them up.
#include <stdio.h>

#include <apgas/c.h>

static void number_of_place(const void* arg, size_t bytes, void* result, size_t result_bytes) {
  if (arg == NULL && bytes == 0 && result_bytes == sizeof(int)) *(int*)result = apgas_here();
}

static void add_numbers(void* sum) {
  for (int p = 0; p < apgas_places(); ++p) {
    int number = 0;
    const int code = apgas_at(p, number_of_place, NULL, 0, &number, sizeof number);
    if (code != 0) fprintf(stderr, "%s\n", apgas_strerror(code));
    *(int*)sum += number;
  }
}

int main(int argc, char** argv) {
  apgas_config config = APGAS_CONFIG_INIT;
  config.argc = argc;
  config.argv = argv;
  int sum = -1;
  int code = apgas_start(&config);
  if (code == 0 && apgas_here() == 0) {
    sum = 0;
    code = apgas_run(add_numbers, &sum);
  }
  const int places = apgas_places();
  if (code == 0) code = apgas_stop();
  printf("%d places, sum of their numbers %d\n", places, sum);
  return code != 0 || (sum != -1 && sum != places * (places - 1) / 2);
}
