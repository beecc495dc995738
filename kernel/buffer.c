// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of one type.
 *
 * A page has two mappings: the program's, and the kernel's direct one. x86 leaves undefined what happens where accesses to both
 * are of different types, so the direct mapping changes first:
 *
 *   WB  write-back, as all memory
 *   WC  write-combining (set_pages_array_wc)
 *   UC  UC- (set_pages_array_uc), which is uncacheable where the MTRR says write-back, as it does of memory
 *   WT  UC-, too: kernels export nothing to modules that makes it write-through. No access ever goes through that mapping while
 *       the page is given away, and the CPU reads nothing uncacheable ahead of the program, so the program's is the only one in use.
 *
 * The kernel keeps the type of the direct mapping for each page and gives it to every mapping that is made by remap_pfn_range or
 * vmf_insert_pfn_prot: there, what it says wins over what the driver asks for. That is what WB, WC and UC get. For WT
 * the entries are written by apply_to_page_range, which does not ask (drm/i915 maps its apertures so).
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <asm/memtype.h>
#include <asm/set_memory.h>

#include "buffer.h"
#include "prestore_device.h"

/* Pages are taken 2 MB at a time where possible, so that few of the direct mapping's large entries are split. */
#define LARGEST_ORDER 9

struct prestore_buffer {
	u32 type;
	unsigned long count; /* pages that it has */
	struct page **pages;
};

static pgprot_t as_type(pgprot_t prot, u32 type)
{
	switch (type) {
	case PRESTORE_DEV_WT:
		return pgprot_writethrough(prot);
	case PRESTORE_DEV_WC:
		return pgprot_writecombine(prot);
	case PRESTORE_DEV_UC:
		return pgprot_noncached(prot);
	default:
		return prot;
	}
}

u32 prestore_types(void)
{
	u32 types = BIT(PRESTORE_DEV_WB) | BIT(PRESTORE_DEV_UC);
	const pgprotval_t uncacheable = pgprot_val(as_type(PAGE_SHARED, PRESTORE_DEV_UC));
	u32 type;

	/* Without the PAT the kernel keeps no types of pages. */
	if (!pat_enabled())
		return types;
	/* What a PAT has no entry for (old CPUs use four of eight) becomes uncacheable. */
	for (type = PRESTORE_DEV_WT; type <= PRESTORE_DEV_WC; type++)
		if (pgprot_val(as_type(PAGE_SHARED, type)) != uncacheable)
			types |= BIT(type);
	return types;
}

static int direct_mapping(struct prestore_buffer *buffer)
{
	switch (buffer->type) {
	case PRESTORE_DEV_WC:
		return set_pages_array_wc(buffer->pages, buffer->count);
	case PRESTORE_DEV_WT:
	case PRESTORE_DEV_UC:
		return set_pages_array_uc(buffer->pages, buffer->count);
	default:
		return 0;
	}
}

static int take_pages(struct prestore_buffer *buffer, unsigned long count)
{
	unsigned int order = LARGEST_ORDER;

	while (buffer->count < count) {
		/* Zeroed here, while they are write-back; a change of type writes the zeros to memory. */
		gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
		struct page *page;
		unsigned long i;

		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		while (order && (1UL << order) > count - buffer->count)
			order--;
		/* Rather an error than the end of somebody else's process. */
		gfp |= order ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL;
		page = alloc_pages(gfp, order);
		if (!page && order) {
			order--;
			continue;
		}
		if (!page)
			return -ENOMEM;
		if (order)
			split_page(page, order);
		for (i = 0; i < 1UL << order; i++)
			buffer->pages[buffer->count++] = page + i;
	}
	return 0;
}

struct prestore_buffer *prestore_buffer_new(u32 type, unsigned long count)
{
	struct prestore_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!buffer)
		return ERR_PTR(-ENOMEM);
	buffer->pages = kvmalloc_array(count, sizeof(*buffer->pages), GFP_KERNEL_ACCOUNT);
	if (!buffer->pages)
		goto free;
	/* As pages are until the last step. */
	buffer->type = PRESTORE_DEV_WB;
	err = take_pages(buffer, count);
	if (err)
		goto free;
	buffer->type = type;
	err = direct_mapping(buffer);
	if (err)
		goto free;
	return buffer;
free:
	prestore_buffer_free(buffer);
	return ERR_PTR(err);
}

void prestore_buffer_free(struct prestore_buffer *buffer)
{
	unsigned long i;

	/* A page that stayed uncacheable would slow down whoever has it next: better lost. */
	if (buffer->type != PRESTORE_DEV_WB && set_pages_array_wb(buffer->pages, buffer->count)) {
		pr_warn("prestore: %lu pages cannot be made write-back again and are lost\n", buffer->count);
		buffer->count = 0;
	}
	for (i = 0; i < buffer->count; i++) {
		__free_page(buffer->pages[i]);
		if (i % 1024 == 0)
			cond_resched();
	}
	kvfree(buffer->pages);
	kfree(buffer);
}

unsigned long prestore_buffer_count(const struct prestore_buffer *buffer)
{
	return buffer->count;
}

struct walk {
	struct vm_area_struct *vma;
	struct page **next;
};

static int write_entry(pte_t *pte, unsigned long addr, void *data)
{
	struct walk *walk = data;
	pte_t entry = pfn_pte(page_to_pfn(*walk->next++), walk->vma->vm_page_prot);

	set_pte_at(walk->vma->vm_mm, addr, pte, pte_mkspecial(entry));
	return 0;
}

static void add_flags(struct vm_area_struct *vma)
{
	/* PFNMAP: pages that nobody can pin, so that none outlives the mapping with its type. */
	const unsigned long flags = VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, flags, VM_MAYEXEC);
#else
	vma->vm_flags = (vma->vm_flags | flags) & ~VM_MAYEXEC;
#endif
}

int prestore_buffer_map(struct prestore_buffer *buffer, struct vm_area_struct *vma)
{
	struct page **next = buffer->pages + vma->vm_pgoff;
	unsigned long addr;

	add_flags(vma);
	vma->vm_page_prot = as_type(vma->vm_page_prot, buffer->type);
	if (buffer->type == PRESTORE_DEV_WT) {
		struct walk walk = { vma, next };

		return apply_to_page_range(vma->vm_mm, vma->vm_start, vma->vm_end - vma->vm_start, write_entry, &walk);
	}
	for (addr = vma->vm_start; addr < vma->vm_end; addr += PAGE_SIZE) {
		vm_fault_t fault = vmf_insert_pfn_prot(vma, addr, page_to_pfn(*next++), vma->vm_page_prot);

		if (fault & VM_FAULT_ERROR)
			return vm_fault_to_errno(fault, 0);
		cond_resched();
	}
	return 0;
}
