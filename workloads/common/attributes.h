/* Compiler attributes the workloads rely on. */
#ifndef WORKLOADS_ATTRIBUTES_H
#define WORKLOADS_ATTRIBUTES_H

/* Keeps a function a function, so that findings name it. */
#define NOINLINE __attribute__((noinline))

/* The line size the programs lay their data out for. */
#define CACHE_LINE_SIZE 64

/* The compiler must assume that memory was read and written here; no instruction is emitted. */
#define COMPILER_BARRIER() __asm__ __volatile__("" : : : "memory")

#endif
