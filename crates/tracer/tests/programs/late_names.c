/* Calls a function of the library that is the first argument, and prints what it has put into the memory that
 * it got. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void *(*own)(size_t) = (void *(*)(size_t))dlsym(library, "own");
    char *memory = own(100);
    strcpy(memory, "its own");
    puts(memory);
    free(memory);
    return dlclose(library);
}
