# SPDX-License-Identifier: Apache-2.0
"""Frames and lines of a process by libdw of elfutils, which is loaded when it is needed."""

import ctypes
import os
import re

FRAMES_AT_MOST = 64
LONGEST_NAME = 100
SUBPROGRAM, INLINED = 0x2e, 0x1d  # DW_TAG
LINKAGE_NAME, CALL_FILE, CALL_LINE = 0x6e, 0x58, 0x59  # DW_AT
INNERMOST_TEMPLATE = re.compile(r"<[^<>]+>")
PARAMETERS = re.compile(r"\((?!anonymous|\.\.\.)[^()]+\)")


class Failed(Exception):
    """The text is one line that says why there are no frames."""


class FindCallbacks(ctypes.Structure):  # Dwfl_Callbacks
    _fields_ = [("find_elf", ctypes.c_void_p), ("find_debuginfo", ctypes.c_void_p),
                ("section_address", ctypes.c_void_p), ("debuginfo_path", ctypes.c_void_p)]


POINTER, WORD = ctypes.c_void_p, ctypes.c_uint64
NEXT_THREAD = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER, POINTER)
GET_THREAD = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER, ctypes.c_int, POINTER, POINTER)
READ_MEMORY = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER, WORD, ctypes.POINTER(WORD), POINTER)
SET_REGISTERS = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER, POINTER)
ON_FRAME = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER)


class ThreadCallbacks(ctypes.Structure):  # Dwfl_Thread_Callbacks
    _fields_ = [("next_thread", NEXT_THREAD), ("get_thread", GET_THREAD),
                ("memory_read", READ_MEMORY), ("set_initial_registers", SET_REGISTERS),
                ("detach", POINTER), ("thread_detach", POINTER)]


class Die(ctypes.Structure):  # Dwarf_Die
    _fields_ = [("address", POINTER), ("unit", POINTER), ("abbreviation", POINTER),
                ("padding", ctypes.c_long)]


class Attribute(ctypes.Structure):  # Dwarf_Attribute
    _fields_ = [("code", ctypes.c_uint), ("form", ctypes.c_uint), ("value", POINTER),
                ("unit", POINTER)]


SIGNATURES = {  # of functions that return something else than int
    "dwfl_begin": POINTER, "dwfl_addrmodule": POINTER, "dwfl_module_addrname": ctypes.c_char_p,
    "dwfl_module_getsrc": POINTER, "dwfl_lineinfo": ctypes.c_char_p,
    "dwfl_errmsg": ctypes.c_char_p, "dwfl_module_addrdie": POINTER,
    "dwarf_diename": ctypes.c_char_p, "dwarf_attr_integrate": POINTER,
    "dwarf_formstring": ctypes.c_char_p, "dwarf_filesrc": ctypes.c_char_p,
    "dwfl_attach_state": ctypes.c_bool, "dwfl_frame_pc": ctypes.c_bool,
    "dwfl_thread_state_registers": ctypes.c_bool,
}


def load():
    os.environ.pop("DEBUGINFOD_URLS", None)  # no downloads
    try:
        library, runtime = ctypes.CDLL("libdw.so.1"), ctypes.CDLL("libstdc++.so.6")
    except OSError:
        raise Failed("backtraces need libdw of elfutils: install it (apt install libdw1), or use "
                     "gdb (docs/debugging/gdb.md)") from None
    for name, result in SIGNATURES.items():
        getattr(library, name).restype = result
    demangle = runtime["__cxa_demangle"]  # a new object at each access
    demangle.restype = POINTER
    return library, demangle


def shortened(name):
    """The name of a function, without the arguments of templates and functions if it is long."""
    while len(name) > LONGEST_NAME:
        shorter = PARAMETERS.sub("(...)", INNERMOST_TEMPLATE.sub("\0", name))
        if shorter == name:
            name = name[:LONGEST_NAME] + "..."
            break
        name = shorter
    return name.replace("\0", "<...>")


class Process:
    """The modules of a process. `with Process(pid) as p:`"""

    def __init__(self, pid, threads_too=False):
        self.dw, self.demangle = load()
        self.pid, self.threads_too, self.stacks = pid, threads_too, []

    def __enter__(self):
        address = lambda function: ctypes.cast(function, POINTER)  # noqa: E731
        self.path = POINTER(None)
        self.found_by = FindCallbacks(address(self.dw.dwfl_linux_proc_find_elf),
                                      address(self.dw.dwfl_standard_find_debuginfo), None,
                                      ctypes.addressof(self.path))
        self.dwfl = POINTER(self.dw.dwfl_begin(ctypes.byref(self.found_by)))
        if self.dw.dwfl_linux_proc_report(self.dwfl, self.pid) != 0:
            raise Failed(f"the modules of process {self.pid} cannot be read")
        self.dw.dwfl_report_end(self.dwfl, None, None)
        if self.threads_too:
            code = self.dw.dwfl_linux_proc_attach(self.dwfl, self.pid, False)
            if code != 0:
                why = os.strerror(code) if code > 0 else self.error()
                raise Failed(f"the workers of process {self.pid} cannot be stopped: {why}")
            return self
        self.of_threads = ThreadCallbacks(
            NEXT_THREAD(lambda *_: 0), GET_THREAD(self.get_thread), READ_MEMORY(self.read_memory),
            SET_REGISTERS(self.set_registers), None, None)
        if not self.dw.dwfl_attach_state(self.dwfl, None, self.pid, ctypes.byref(self.of_threads),
                                         None):
            raise Failed(f"the stacks of process {self.pid} cannot be unwound: {self.error()}")
        return self

    def __exit__(self, *_):
        self.dw.dwfl_end(self.dwfl)

    def error(self):
        return (self.dw.dwfl_errmsg(-1) or b"unknown reason").decode()

    # The state of a "thread": a saved stack. Its number is its index + 1.
    def get_thread(self, _dwfl, _number, _argument, thread):
        ctypes.cast(thread, ctypes.POINTER(POINTER))[0] = None
        return True

    def read_memory(self, _dwfl, address, result, _argument):
        word = self.stacks[-1].word(address)
        if word is None:
            return False
        result[0] = word
        return True

    def set_registers(self, thread, _argument):
        saved = self.stacks[-1]
        thread = POINTER(thread)
        for number, value in saved.registers.items():
            if not self.dw.dwfl_thread_state_registers(thread, number, 1,
                                                       ctypes.byref(WORD(value))):
                return False
        self.dw.dwfl_thread_state_register_pc(thread, WORD(saved.pc))
        return True

    def frames_of_stack(self, saved):
        self.stacks.append(saved)
        return self.frames_of_thread(len(self.stacks))

    def frames_of_thread(self, number):
        """Returns the frames of a thread as texts, the newest first."""
        addresses = []

        def on_frame(frame, _argument):
            pc, is_exact = WORD(), ctypes.c_bool()
            if not self.dw.dwfl_frame_pc(POINTER(frame), ctypes.byref(pc),
                                         ctypes.byref(is_exact)):
                return 1
            # A return address may be the first one of the next line, or of the next function.
            addresses.append(pc.value - (0 if is_exact.value and self.threads_too else 1))
            return 1 if len(addresses) >= FRAMES_AT_MOST else 0

        code = self.dw.dwfl_getthread_frames(self.dwfl, number, ON_FRAME(on_frame), None)
        texts = [text for address in addresses for text in self.texts_of(address)]
        if code == -1 and not addresses:
            texts.append(f"(no frames: {self.error()})")
        return texts

    # The functions of an address: those that are inlined there first.
    def texts_of(self, address):
        module = POINTER(self.dw.dwfl_addrmodule(self.dwfl, WORD(address)))
        if not module:
            return [f"{address:#x}"]
        symbol = self.dw.dwfl_module_addrname(module, WORD(address))
        line = self.line_of(module, address)
        names = self.inlined_at(module, address)
        if not names:
            name = self.demangled(symbol) if symbol else f"{address:#x}"
            return [shortened(name) + (f" at {line}" if line else "")]
        texts = []
        for name, called_at in names:
            texts.append(shortened(name or self.demangled(symbol or b"?"))
                         + (f" at {line}" if line else ""))
            line = called_at
        return texts

    def line_of(self, module, address):
        found = POINTER(self.dw.dwfl_module_getsrc(module, WORD(address)))
        number = ctypes.c_int()
        if not found:
            return None
        file = self.dw.dwfl_lineinfo(found, None, ctypes.byref(number), None, None, None)
        return f"{file.decode(errors='replace')}:{number.value}" if file else None

    def inlined_at(self, module, address):
        """Returns (name, line of its call) of each function, the innermost first."""
        bias = WORD()
        unit = POINTER(self.dw.dwfl_module_addrdie(module, WORD(address), ctypes.byref(bias)))
        if not unit:
            return []
        scopes = ctypes.POINTER(Die)()
        number = self.dw.dwarf_getscopes(unit, WORD(address - bias.value), ctypes.byref(scopes))
        inner = next((i for i in range(max(number, 0))
                      if self.dw.dwarf_tag(ctypes.byref(scopes[i])) in (SUBPROGRAM, INLINED)), None)
        if inner is None:
            return []
        outer = ctypes.POINTER(Die)()
        number = self.dw.dwarf_getscopes_die(ctypes.byref(scopes[inner]), ctypes.byref(outer))
        names = []
        for i in range(max(number, 0)):
            die = ctypes.byref(outer[i])
            tag = self.dw.dwarf_tag(die)
            if tag in (SUBPROGRAM, INLINED):
                names.append((self.name_of(die), self.call_of(unit, die)))
            if tag == SUBPROGRAM:
                break
        return names

    def name_of(self, die):
        attribute = Attribute()
        if self.dw.dwarf_attr_integrate(die, LINKAGE_NAME, ctypes.byref(attribute)):
            return self.demangled(self.dw.dwarf_formstring(ctypes.byref(attribute)) or b"?")
        name = self.dw.dwarf_diename(die)
        return name.decode(errors="replace") if name else None

    def call_of(self, unit, die):
        """The line at which an inlined function is called, or None."""
        attribute, values = Attribute(), []
        for code in (CALL_FILE, CALL_LINE):
            value = WORD()
            if not self.dw.dwarf_attr_integrate(die, code, ctypes.byref(attribute)):
                return None
            self.dw.dwarf_formudata(ctypes.byref(attribute), ctypes.byref(value))
            values.append(value.value)
        files, number = POINTER(), ctypes.c_size_t()
        if self.dw.dwarf_getsrcfiles(unit, ctypes.byref(files), ctypes.byref(number)) != 0:
            return None
        file = self.dw.dwarf_filesrc(files, ctypes.c_size_t(values[0]), None, None)
        return f"{file.decode(errors='replace')}:{values[1]}" if file else None

    def demangled(self, name):
        status = ctypes.c_int()
        found = self.demangle(name, None, None, ctypes.byref(status))
        return ctypes.string_at(found).decode() if found else name.decode(errors="replace")
