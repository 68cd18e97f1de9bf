// SPDX-License-Identifier: Apache-2.0

// Finds loaded objects with dl_iterate_phdr, and their build-ids in their ELF notes.

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include <elf.h>
#include <link.h>

#include <apgas/base/assert.hpp>

#include "loaded_object.hpp"

namespace apgas::inline v0::comm {

namespace {

std::uint64_t hash_more(std::uint64_t hash, std::string_view bytes) {  // FNV-1a
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

constexpr std::uint64_t hash_start = 0xcbf29ce484222325;

// The build-id in the notes of one segment, or an empty view.
std::string_view build_id_in(std::span<const char> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof(note));
    const std::size_t name = (note.n_namesz + 3) & ~std::size_t{3};
    const std::size_t text = (note.n_descsz + 3) & ~std::size_t{3};
    if (sizeof(note) + name + text > notes.size()) break;
    const char* at = notes.data() + sizeof(note);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at, "GNU", 4) == 0) {
      return {at + name, note.n_descsz};
    }
    notes = notes.subspan(sizeof(note) + name + text);
  }
  return {};
}

std::uint64_t hash_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) base::fatal("cannot read " + file + " to identify the build of its handlers");
  std::uint64_t hash = hash_start;
  std::string chunk(std::size_t{1} << 16, '\0');
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), in.gcount() > 0) {
    hash = hash_more(hash, {chunk.data(), static_cast<std::size_t>(in.gcount())});
  }
  return hash;
}

struct search {
  std::uintptr_t address;
  loaded_object found;
  std::string_view build_id;
};

int visit(dl_phdr_info* info, std::size_t, void* context) {
  auto& wanted = *static_cast<search*>(context);
  loaded_object object;
  object.base = info->dlpi_addr;
  object.begin = UINTPTR_MAX;
  std::string_view build_id;
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) {
      object.begin = std::min(object.begin, begin);
      object.end = std::max(object.end, begin + segment.p_memsz);
    } else if (segment.p_type == PT_NOTE && build_id.empty()) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as integers
      build_id = build_id_in({reinterpret_cast<const char*>(begin), segment.p_memsz});
    }
  }
  if (wanted.address < object.begin || wanted.address >= object.end) return 0;
  object.file = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
  wanted.found = std::move(object);
  wanted.build_id = build_id;
  return 1;
}

}  // namespace

loaded_object object_of(const void* address) {
  search wanted{reinterpret_cast<std::uintptr_t>(address), {}, {}};
  const int found = dl_iterate_phdr(visit, &wanted);
  APGAS_ASSERT(found == 1, "a handler lies in no loaded object");
  wanted.found.identity = wanted.build_id.empty() ? hash_of_file(wanted.found.file)
                                                  : hash_more(hash_start, wanted.build_id);
  return wanted.found;
}

}  // namespace apgas::inline v0::comm
