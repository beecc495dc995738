/* Seccomp's filter programs, checked and run as the kernel does. */
#ifndef PRESTORE_SECCOMP_FILTER_H
#define PRESTORE_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

/* Would the kernel take it as a filter? (Not `bool`: the engine has a type of that name.) */
int seccomp_filter_valid(const struct sock_filter *code, unsigned len);

/* What it says about a system call: an action and its data. */
uint32_t seccomp_filter_run(const struct sock_filter *code, const struct seccomp_data *call);

#endif
