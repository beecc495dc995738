// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/prestore, as prestore_device.h describes it.
 *
 * A file's memory lives as long as the file, and each mapping holds its file: no count of our own is needed, and a module
 * whose memory is mapped cannot be unloaded.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "buffer.h"
#include "prestore_device.h"

static unsigned long max_mib;
module_param(max_mib, ulong, 0444);
MODULE_PARM_DESC(max_mib, "MiB that all users together may have (default: a quarter of the memory)");

static unsigned long limit; /* pages */
static atomic_long_t used;  /* pages */

static int device_open(struct inode *inode, struct file *file)
{
	/* The misc device's own until now; the file's memory from here on. */
	file->private_data = NULL;
	return 0;
}

static int device_release(struct inode *inode, struct file *file)
{
	struct prestore_buffer *buffer = file->private_data;

	if (buffer) {
		unsigned long count = prestore_buffer_count(buffer);

		prestore_buffer_free(buffer);
		atomic_long_sub(count, &used);
	}
	return 0;
}

static int allocate(struct file *file, const struct prestore_dev_alloc *want)
{
	struct prestore_buffer *buffer;
	unsigned long count = want->bytes >> PAGE_SHIFT;
	int err;

	if (want->flags || want->reserved || !want->bytes || want->bytes & ~PAGE_MASK)
		return -EINVAL;
	if (want->type > PRESTORE_DEV_UC)
		return -EINVAL;
	if (!(prestore_types() & BIT(want->type)))
		return -EOPNOTSUPP;
	if (READ_ONCE(file->private_data))
		return -EBUSY;
	/* Alone it is compared first, so that the sum cannot overflow. */
	if (count > limit)
		return -ENOSPC;
	if (atomic_long_add_return(count, &used) > limit) {
		err = -ENOSPC;
		goto give_back;
	}
	buffer = prestore_buffer_new(want->type, count);
	if (IS_ERR(buffer)) {
		err = PTR_ERR(buffer);
		goto give_back;
	}
	/* Two threads may ask at once. */
	if (cmpxchg(&file->private_data, NULL, buffer)) {
		prestore_buffer_free(buffer);
		err = -EBUSY;
		goto give_back;
	}
	return 0;
give_back:
	atomic_long_sub(count, &used);
	return err;
}

static long device_ioctl(struct file *file, unsigned int request, unsigned long argument)
{
	void __user *user = (void __user *)argument;

	switch (request) {
	case PRESTORE_DEV_ALLOC: {
		struct prestore_dev_alloc want;

		if (copy_from_user(&want, user, sizeof(want)))
			return -EFAULT;
		return allocate(file, &want);
	}
	case PRESTORE_DEV_INFO: {
		const struct prestore_dev_info info = {
			.version = PRESTORE_DEV_VERSION,
			.types = prestore_types(),
			.limit = (u64)limit << PAGE_SHIFT,
			.used = (u64)atomic_long_read(&used) << PAGE_SHIFT,
		};

		return copy_to_user(user, &info, sizeof(info)) ? -EFAULT : 0;
	}
	default:
		return -ENOTTY;
	}
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	/* Written once, by a cmpxchg. */
	struct prestore_buffer *buffer = READ_ONCE(file->private_data);
	unsigned long count;

	if (!buffer)
		return -EBADFD;
	/* VM_SHARED is not set where the file was opened to read only. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	count = prestore_buffer_count(buffer);
	if (vma->vm_pgoff >= count || vma_pages(vma) > count - vma->vm_pgoff)
		return -EINVAL;
	return prestore_buffer_map(buffer, vma);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = device_mmap,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "prestore",
	.fops = &operations,
	/* It can take a quarter of the memory, which then cannot be swapped. */
	.mode = 0600,
};

static int __init prestore_init(void)
{
	const unsigned long pages_a_mib = 1UL << (20 - PAGE_SHIFT);

	limit = max_mib ? min(max_mib, totalram_pages() / pages_a_mib) * pages_a_mib : totalram_pages() / 4;
	return misc_register(&device);
}

static void __exit prestore_exit(void)
{
	misc_deregister(&device);
}

module_init(prestore_init);
module_exit(prestore_exit);

MODULE_DESCRIPTION("Memory of a chosen type (write-back, write-through, write-combining, uncacheable) for programs");
MODULE_AUTHOR("The Prestore authors");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
