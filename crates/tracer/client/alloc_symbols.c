#include "alloc_symbols.h"

#include <elf.h>
#include <string.h>

#include "wire.h"

static const struct {
    const char *name;
    uint call;
} functions[] = {
    { "malloc", ALLOC_MALLOC },
    { "calloc", ALLOC_MALLOC | CALL_TIMES_NEXT },
    { "realloc", ALLOC_MALLOC | CALL_SIZE_ARG1 | CALL_RETURNS_OLD },
    { "reallocarray", ALLOC_MALLOC | CALL_SIZE_ARG1 | CALL_TIMES_NEXT | CALL_RETURNS_OLD },
    { "free", CALL_FREE },
    { "cfree", CALL_FREE },
    { "free_sized", CALL_FREE },
    { "free_aligned_sized", CALL_FREE },
    { "posix_memalign", ALLOC_MALLOC | CALL_SIZE_ARG2 | CALL_RESULT_IN_ARG0 },
    { "aligned_alloc", ALLOC_MALLOC | CALL_SIZE_ARG1 },
    { "memalign", ALLOC_MALLOC | CALL_SIZE_ARG1 },
    { "valloc", ALLOC_MALLOC },
    { "pvalloc", ALLOC_MALLOC },
    { "_Znwm", ALLOC_NEW },
    { "_Znam", ALLOC_NEW },
    { "_ZnwmRKSt9nothrow_t", ALLOC_NEW },
    { "_ZnamRKSt9nothrow_t", ALLOC_NEW },
    { "_ZnwmSt11align_val_t", ALLOC_NEW },
    { "_ZnamSt11align_val_t", ALLOC_NEW },
    { "_ZnwmSt11align_val_tRKSt9nothrow_t", ALLOC_NEW },
    { "_ZnamSt11align_val_tRKSt9nothrow_t", ALLOC_NEW },
    { "_ZdlPv", CALL_FREE },
    { "_ZdaPv", CALL_FREE },
    { "_ZdlPvm", CALL_FREE },
    { "_ZdaPvm", CALL_FREE },
    { "_ZdlPvRKSt9nothrow_t", CALL_FREE },
    { "_ZdaPvRKSt9nothrow_t", CALL_FREE },
    { "_ZdlPvSt11align_val_t", CALL_FREE },
    { "_ZdaPvSt11align_val_t", CALL_FREE },
    { "_ZdlPvmSt11align_val_t", CALL_FREE },
    { "_ZdaPvmSt11align_val_t", CALL_FREE },
    { "_ZdlPvSt11align_val_tRKSt9nothrow_t", CALL_FREE },
    { "_ZdaPvSt11align_val_tRKSt9nothrow_t", CALL_FREE },
};
#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* Is `n` bytes from `at` within a file of `size` bytes? */
static bool
within(uint64 at, uint64 n, uint64 size)
{
    return at <= size && n <= size - at;
}

/* Reports the functions of the mapped file's symbol table. The table may be anything: it is the
 * program's file. */
static uint
scan(const byte *file, uint64 size, const module_data_t *module, void (*found)(app_pc, uint))
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)file;
    uint n = 0;
    if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(Elf64_Shdr) ||
        !within(head->e_shoff, (uint64)head->e_shnum * sizeof(Elf64_Shdr), size))
        return 0;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + head->e_shoff);
    ptr_int_t bias = module->start - module->preferred_base;
    for (uint s = 0; s < head->e_shnum; s++) {
        const Elf64_Shdr *table = &sections[s];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= head->e_shnum ||
            !within(table->sh_offset, table->sh_size, size))
            continue;
        const Elf64_Shdr *names = &sections[table->sh_link];
        if (!within(names->sh_offset, names->sh_size, size) || names->sh_size == 0 ||
            file[names->sh_offset + names->sh_size - 1] != '\0')
            continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(file + table->sh_offset);
        for (uint64 i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++) {
            const Elf64_Sym *symbol = &symbols[i];
            if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
                symbol->st_name >= names->sh_size)
                continue;
            const char *name = (const char *)file + names->sh_offset + symbol->st_name;
            for (uint f = 0; f < N_FUNCTIONS; f++) {
                if (strcmp(name, functions[f].name) == 0) {
                    found((app_pc)symbol->st_value + bias, functions[f].call);
                    n++;
                }
            }
        }
    }
    return n;
}

/* An executable that carries its allocator need not export it: only its symbol table names it. */
static uint
executable(const module_data_t *module, void (*found)(app_pc, uint))
{
    uint64 file_size = 0;
    uint n = 0;
    if (module->full_path == NULL)
        return 0;
    file_t file = dr_open_file(module->full_path, DR_FILE_READ);
    if (file < 0)
        return 0;
    if (dr_file_size(file, &file_size) && file_size > 0) {
        size_t size = (size_t)file_size;
        byte *map = dr_map_file(file, &size, 0, NULL, DR_MEMPROT_READ, DR_MAP_PRIVATE);
        if (map != NULL) {
            n = scan(map, file_size, module, found);
            dr_unmap_file(map, size);
        }
    }
    dr_close_file(file);
    return n;
}

uint
alloc_symbols(const module_data_t *module, void (*found)(app_pc pc, uint call))
{
    module_data_t *main = dr_get_main_module();
    uint n = 0;
    for (uint f = 0; f < N_FUNCTIONS; f++) {
        app_pc pc = (app_pc)dr_get_proc_address(module->handle, functions[f].name);
        if (pc > module->start && pc < module->end) {
            found(pc, functions[f].call);
            n++;
        }
    }
    if (main != NULL && main->start == module->start)
        n += executable(module, found);
    dr_free_module_data(main);
    return n;
}
