/* Loads, runs and unloads a library, again and again. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    long sum = 0;
    for (int i = 0; i < 20; i++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        if (library == NULL) {
            puts(dlerror());
            return 1;
        }
        int (*add)(int) = (int (*)(int))dlsym(library, "plugin_add");
        sum += add(10 + i);
        dlclose(library);
    }
    printf("%ld\n", sum);
    return 0;
}
