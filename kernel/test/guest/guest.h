/* The program that is the guest's first process: tests prestore.ko, prints a line for each thing it saw. */
#ifndef GUEST_H
#define GUEST_H

#include <stddef.h>
#include <stdint.h>

#include "../../prestore_device.h"

enum { PAGE = 4096 };

extern const char *const type_names[4];

/* Prints "TEST " and the line. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "done", or the name of errno, by what a system call answered. */
const char *outcome(long answer);

/* Ends the guest where what the test itself needs fails. */
void need(int holds, const char *what);

int load(const char *module, const char *parameters);
int unload(const char *name);

int device(void);
int allocate(int fd, uint32_t type, uint64_t bytes);
/* A descriptor and mapping of new memory. */
unsigned char *memory(int *fd, uint32_t type, size_t bytes);
struct prestore_dev_info info(void);

/* What is given away at last: memory goes back a moment after the call that ends its use. */
uint64_t used_at_last(uint64_t expected);

/* The types of the program's mapping and of the kernel's, and the page's number. */
unsigned long probe(const void *address, char types[static 16]);
/* The type of the kernel's mapping of a page. */
void probe_direct(unsigned long page, char type[static 16]);

void test_types(void);
void test_sharing(void);
void test_ends(void);
void test_hostile_requests(void);
void test_hostile_mappings(void);

#endif
