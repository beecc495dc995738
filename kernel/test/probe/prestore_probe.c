// SPDX-License-Identifier: GPL-2.0
/*
 * For the test only: /proc/prestore_probe answers, for an address written to it, what type the page tables and the CPU's PAT give
 * to the writer's mapping of that page and to the kernel's direct one: "USER DIRECT PFN", the types as the PAT names them.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pgtable.h>
#include <linux/proc_fs.h>
#include <linux/uaccess.h>
#include <asm/msr.h>

static const char *type_of(u64 entry, bool large)
{
	static const char *const names[8] = { "UC", "WC", "?", "?", "WT", "WP", "WB", "UC-" };
	const unsigned int pat = large ? !!(entry & _PAGE_PAT_LARGE) : !!(entry & _PAGE_PAT);
	const unsigned int slot = pat << 2 | !!(entry & _PAGE_PCD) << 1 | !!(entry & _PAGE_PWT);
	u64 types;

	rdmsrl(MSR_IA32_CR_PAT, types);
	return names[types >> (8 * slot) & 7];
}

static int found(pte_t *pte, unsigned long addr, void *data)
{
	*(pte_t *)data = *pte;
	return 0;
}

static char answer[64];

static ssize_t probe_write(struct file *file, const char __user *text, size_t size, loff_t *at)
{
	unsigned long addr;
	unsigned int level;
	pte_t entry = __pte(0), *direct;
	int err = kstrtoul_from_user(text, size, 0, &addr);

	if (err)
		return err;
	mmap_read_lock(current->mm);
	err = apply_to_existing_page_range(current->mm, addr & PAGE_MASK, PAGE_SIZE, found, &entry);
	mmap_read_unlock(current->mm);
	if (err)
		return err;
	if (!pte_present(entry)) {
		strscpy(answer, "none none 0\n", sizeof(answer));
		return size;
	}
	direct = lookup_address((unsigned long)pfn_to_kaddr(pte_pfn(entry)), &level);
	if (!direct)
		return -ENXIO;
	snprintf(answer, sizeof(answer), "%s %s %lu\n", type_of(pte_val(entry), false),
		 type_of(pte_val(*direct), level != PG_LEVEL_4K), pte_pfn(entry));
	return size;
}

/* The direct mapping's type of a page that is nobody's any more, by its number. */
static ssize_t direct_write(struct file *file, const char __user *text, size_t size, loff_t *at)
{
	unsigned long pfn;
	unsigned int level;
	pte_t *direct;
	int err = kstrtoul_from_user(text, size, 0, &pfn);

	if (err)
		return err;
	if (!pfn_valid(pfn))
		return -EINVAL;
	direct = lookup_address((unsigned long)pfn_to_kaddr(pfn), &level);
	if (!direct)
		return -ENXIO;
	snprintf(answer, sizeof(answer), "%s\n", type_of(pte_val(*direct), level != PG_LEVEL_4K));
	return size;
}

static ssize_t answer_read(struct file *file, char __user *text, size_t size, loff_t *at)
{
	return simple_read_from_buffer(text, size, at, answer, strlen(answer));
}

static const struct proc_ops probe_operations = { .proc_write = probe_write, .proc_read = answer_read };
static const struct proc_ops direct_operations = { .proc_write = direct_write, .proc_read = answer_read };

static int __init probe_init(void)
{
	if (!proc_create("prestore_probe", 0600, NULL, &probe_operations) ||
	    !proc_create("prestore_direct", 0600, NULL, &direct_operations))
		return -ENOMEM;
	return 0;
}

static void __exit probe_exit(void)
{
	remove_proc_entry("prestore_probe", NULL);
	remove_proc_entry("prestore_direct", NULL);
}

module_init(probe_init);
module_exit(probe_exit);

MODULE_DESCRIPTION("What type a page has, for the test of prestore.ko");
MODULE_LICENSE("GPL");
