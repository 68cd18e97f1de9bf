// SPDX-License-Identifier: Apache-2.0

// Finds loaded objects with dl_iterate_phdr, and their build-ids in their ELF notes.

#include <apgas/comm/loaded_object.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include <elf.h>
#include <link.h>

#include <apgas/base/assert.hpp>

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

std::optional<std::uint64_t> hash_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::uint64_t hash = hash_start;
  std::string chunk(std::size_t{1} << 16, '\0');
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), in.gcount() > 0) {
    hash = hash_more(hash, {chunk.data(), static_cast<std::size_t>(in.gcount())});
  }
  return hash;
}

// An object with the part of its notes that identifies it.
struct described_object {
  loaded_object object;
  std::string_view build_id;
};

described_object describe(const dl_phdr_info& info) {
  described_object found;
  loaded_object& object = found.object;
  object.base = info.dlpi_addr;
  object.begin = object.code_begin = UINTPTR_MAX;
  for (const ElfW(Phdr) & segment : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) {
      object.begin = std::min(object.begin, begin);
      object.end = std::max(object.end, begin + segment.p_memsz);
      if ((segment.p_flags & PF_X) != 0) {
        object.code_begin = std::min(object.code_begin, begin);
        object.code_end = std::max(object.code_end, begin + segment.p_memsz);
      }
    } else if (segment.p_type == PT_NOTE && found.build_id.empty()) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as integers
      found.build_id = build_id_in({reinterpret_cast<const char*>(begin), segment.p_memsz});
    }
  }
  object.file = info.dlpi_name && *info.dlpi_name ? info.dlpi_name : "/proc/self/exe";
  return found;
}

// Returns false if the object has no build-id and its file cannot be read.
bool identify(described_object& found) {
  const std::optional<std::uint64_t> identity = found.build_id.empty()
                                                    ? hash_of_file(found.object.file)
                                                    : hash_more(hash_start, found.build_id);
  found.object.identity = identity.value_or(0);
  return identity.has_value();
}

struct search {
  std::uintptr_t address;
  described_object found;
};

int visit(dl_phdr_info* info, std::size_t, void* context) {
  auto& wanted = *static_cast<search*>(context);
  described_object here = describe(*info);
  if (wanted.address < here.object.begin || wanted.address >= here.object.end) return 0;
  wanted.found = std::move(here);
  return 1;
}

int collect(dl_phdr_info* info, std::size_t, void* context) {
  described_object here = describe(*info);
  if (identify(here)) {
    static_cast<std::vector<loaded_object>*>(context)->push_back(std::move(here.object));
  }
  return 0;
}

int count_changes(dl_phdr_info* info, std::size_t, void* context) {
  *static_cast<std::uint64_t*>(context) = info->dlpi_adds + info->dlpi_subs;
  return 1;
}

}  // namespace

loaded_object object_of(const void* address) {
  search wanted{reinterpret_cast<std::uintptr_t>(address), {}};
  const int found = dl_iterate_phdr(visit, &wanted);
  APGAS_ASSERT(found == 1, "a handler lies in no loaded object");
  if (!identify(wanted.found)) {
    base::fatal("cannot read " + wanted.found.object.file +
                " to identify the build of its handlers");
  }
  return wanted.found.object;
}

std::vector<loaded_object> all_loaded_objects() {
  std::vector<loaded_object> objects;
  dl_iterate_phdr(collect, &objects);
  return objects;
}

std::uint64_t loading_generation() noexcept {
  std::uint64_t changes = 0;
  dl_iterate_phdr(count_changes, &changes);
  return changes;
}

}  // namespace apgas::inline v0::comm
