# Every export of the real libraries exists here too, so that a program never fails to load. What the emulator does not
# implement becomes a function that names itself and returns "not supported". The lists are the exports of NVIDIA's
# libraries of CUDA 13.0, and what the runtime of 13.5 added.
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/runtime_exports.txt runtime_names)
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/driver_exports.txt driver_names)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS runtime_exports.txt driver_exports.txt)

# Weak: an implementation elsewhere in the library takes precedence.
set(text "int emu_missing_runtime_call(const char* name);\n")
foreach(name ${runtime_names})
  string(APPEND text "__attribute__((weak)) int ${name}(void) { return emu_missing_runtime_call(\"${name}\"); }\n")
endforeach()
set(EMU_RUNTIME_STUBS ${CMAKE_CURRENT_BINARY_DIR}/runtime_stubs.c)
file(CONFIGURE OUTPUT ${EMU_RUNTIME_STUBS} CONTENT "${text}" @ONLY)

# libcuda.so.1 jumps through a table that it fills, when loaded, from the emulator in libcudart.so.13.
set(text "extern void* emuDriverFunction(const char* name);\nextern int emuMissingDriverCall(const char* name);\n")
set(fill "")
foreach(name ${driver_names})
  string(APPEND text
    "static int missing_${name}(void) { return emuMissingDriverCall(\"${name}\"); }\n"
    "__attribute__((visibility(\"hidden\"))) void* slot_${name} = (void*)missing_${name};\n"
    "__attribute__((naked)) void ${name}(void) { __asm__(\"jmp *slot_${name}(%rip)\"); }\n")
  string(APPEND fill "  fill(&slot_${name}, \"${name}\");\n")
endforeach()
string(APPEND text
  "static void fill(void** slot, const char* name) {\n  void* f = emuDriverFunction(name);\n  if (f) *slot = f;\n}\n"
  "__attribute__((constructor)) static void fill_slots(void) {\n${fill}}\n")
set(EMU_DRIVER_STUBS ${CMAKE_CURRENT_BINARY_DIR}/driver_stubs.c)
file(CONFIGURE OUTPUT ${EMU_DRIVER_STUBS} CONTENT "${text}" @ONLY)
