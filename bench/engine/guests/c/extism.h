// The functions of extism:host/env that these guests use, and three in which they move whole texts. Offsets are places in
// memory that the host owns.
#ifndef EXTISM_H
#define EXTISM_H

#include <stddef.h>
#include <stdint.h>

#define IMPORT(name) __attribute__((import_module("extism:host/env"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

IMPORT("alloc") uint64_t extism_alloc(uint64_t length);
IMPORT("store_u8") void extism_store_u8(uint64_t offset, uint32_t value);
IMPORT("store_u64") void extism_store_u64(uint64_t offset, uint64_t value);
IMPORT("input_length") uint64_t extism_input_length(void);
IMPORT("input_load_u8") uint32_t extism_input_load_u8(uint64_t offset);
IMPORT("input_load_u64") uint64_t extism_input_load_u64(uint64_t offset);
IMPORT("output_set") void extism_output_set(uint64_t offset, uint64_t length);
IMPORT("error_set") void extism_error_set(uint64_t offset);
IMPORT("log_info") void extism_log_info(uint64_t offset);

// extism_input returns the input of the call, in memory that is the caller's to free, or NULL where there is none left.
char *extism_input(size_t *length);

// extism_store copies text into the host's memory, and returns where it lies.
uint64_t extism_store(const char *text, size_t length);

// extism_fail sets text as the error of the call, and returns what the call is to return.
int32_t extism_fail(const char *text);

#endif
