/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * /dev/prestore: memory of a chosen type. What kernel and programs agree on.
 *
 *     int fd = open("/dev/prestore", O_RDWR);
 *     struct prestore_dev_alloc want = { .type = PRESTORE_DEV_WC, .bytes = 1 << 20 };
 *     ioctl(fd, PRESTORE_DEV_ALLOC, &want);
 *     void *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
 *
 * Each open file has memory of its own: zeroed, of one type, given once. All mappings of the file, in whatever process, are of
 * that memory; it goes back when the last mapping and the last descriptor are gone.
 *
 *   open    ENOENT  no module; EACCES  the device is root's unless a udev rule gives it to others
 *   ALLOC   EINVAL  0 bytes, not whole pages, an unknown type, flags or reserved fields that are not 0
 *           EOPNOTSUPP  a type that this machine cannot have: see `types` of PRESTORE_DEV_INFO
 *           ENOSPC  more than the module may give away (its parameter max_mib)
 *           ENOMEM  the machine has none;  EINTR  killed meanwhile
 *           EBUSY   this file has its memory already
 *           EFAULT  a bad pointer
 *   mmap    EBADFD  ALLOC comes first;  EINVAL  MAP_PRIVATE, or beyond the end of the memory
 *           EPERM   PROT_EXEC;  EACCES  PROT_WRITE (or any mapping) that the descriptor was not opened for
 *   others  ENOTTY  an unknown request, or a structure of another size
 *
 * mremap moves a mapping and shrinks it, and does not make it larger (EFAULT). What pins pages (O_DIRECT, RDMA, io_uring's
 * fixed buffers, ptrace) is refused: EFAULT or EIO. read and write copy.
 */
#ifndef PRESTORE_DEVICE_H
#define PRESTORE_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PRESTORE_DEV_VERSION 1

enum prestore_dev_type {
	PRESTORE_DEV_WB = 0, /* write-back */
	PRESTORE_DEV_WT = 1, /* write-through */
	PRESTORE_DEV_WC = 2, /* write-combining */
	PRESTORE_DEV_UC = 3, /* uncacheable */
};

struct prestore_dev_alloc {
	__u32 type;	/* enum prestore_dev_type */
	__u32 flags;	/* 0 */
	__u64 bytes;	/* whole pages */
	__u64 reserved;	/* 0 */
};

struct prestore_dev_info {
	__u32 version;	/* PRESTORE_DEV_VERSION */
	__u32 types;	/* bit 1 << type for each that this machine can have */
	__u64 limit;	/* bytes that may be given away, to all together */
	__u64 used;	/* bytes that are given away */
	__u64 reserved;	/* 0 */
};

#define PRESTORE_DEV_ALLOC _IOW('P', 0xe0, struct prestore_dev_alloc)
#define PRESTORE_DEV_INFO _IOR('P', 0xe1, struct prestore_dev_info)

#endif
