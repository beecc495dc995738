#include "form.h"

#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

const char *const FORM_WORDS[] = { "none", "order", "fence", "clflush", "clflushopt", "clwb", "demote", "nt", NULL };

/* Bits of CPUID leaf 7, EBX. */
#define HAS_CLFLUSHOPT (1u << 23)
#define HAS_CLWB (1u << 24)

void form_require(enum form form)
{
#if defined(__x86_64__)
    unsigned eax, ebx = 0, ecx, edx;
    unsigned wanted = form == FORM_CLFLUSHOPT                       ? HAS_CLFLUSHOPT
                      : form == FORM_CLWB || form == FORM_DEMOTE ? HAS_CLWB
                                                                    : 0;
    __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx);
    if ((ebx & wanted) != wanted) {
        fprintf(stderr, "this processor does not have what --form=%s executes; take --form=clflush\n", FORM_WORDS[form]);
        exit(2);
    }
#else
    (void)form;
#endif
}
