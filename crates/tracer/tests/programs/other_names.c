/* Executes itself by links of /proc, and scripts; and its file is renamed, replaced and deleted while it runs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char here[] = "/tmp/other_names_XXXXXX";

static void
tell_program(void)
{
    char link[256];
    struct stat about = { 0 };
    long got = readlink("/proc/self/exe", link, sizeof(link) - 1);
    link[got > 0 ? got : 0] = '\0';
    const char *name = strrchr(link, '/');
    int file = open("/proc/self/exe", O_RDONLY);
    char head[4] = "";
    long bytes = read(file, head, 4);
    close(file);
    stat("/proc/self/exe", &about);
    printf("%s, %d links, %ld bytes of %.3s\n", name == NULL ? link : name, (int)about.st_nlink, bytes, head + 1);
}

/* What the new image was executed as. */
static int
tell(char **argv)
{
    char name[20] = "";
    prctl(PR_GET_NAME, name);
    const char *as = (const char *)getauxval(AT_EXECFN);
    printf(" argv[0] %s, ", strncmp(argv[0], "/proc/", 6) == 0 ? "of /proc" : argv[0]);
    /* The number of a process may be in it. */
    if (getenv("UNNAMED") == NULL)
        printf("%s, name %s, ", strcmp(as, argv[1]) == 0 ? "as given" : as, name);
    printf("%d characters ", argv[1][0] == '0' ? (int)strlen(argv[1]) : 0);
    for (int i = 2; argv[i] != NULL; i++)
        printf("[%s] ", argv[i]);
    tell_program();
    return 7;
}

static void
execute(const char *path, const char *zero)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        char own[32];
        sprintf(own, "/proc/%d/exe", getpid());
        if (path == NULL)
            path = own;
        execl(path, zero == NULL ? path : zero, path, (char *)0);
        perror("execl");
        _exit(1);
    }
    waitpid(child, &status, 0);
    printf("ended with %x; now ", status);
    tell_program();
}

static void
execute_descriptor(const char *folder, int file)
{
    char path[32];
    sprintf(path, "%s/fd/%d", folder, file);
    execute(path, "zero");
}

static void
write_script(const char *name, const char *interpreter, int argument)
{
    int file = open(name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0755);
    dprintf(file, "#!%s %0*d\n", interpreter, argument, 1);
    close(file);
}

int
main(int argc, char **argv)
{
    char program[256], bytes[4096];
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1)
        return tell(argv);
    long got = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[got] = '\0';
    if (strstr(program, "other_names_") == NULL) {
        /* A copy, whose file may be done with as it pleases. */
        FILE *from = fopen(program, "r");
        if (mkdtemp(here) == NULL || chdir(here) != 0)
            return 1;
        FILE *to = fopen("copy", "w");
        while ((got = (long)fread(bytes, 1, sizeof(bytes), from)) > 0)
            fwrite(bytes, 1, (size_t)got, to);
        fchmod(fileno(to), 0755);
        fclose(to);
        fclose(from);
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            execl("./copy", "copy", (char *)0);
            _exit(1);
        }
        waitpid(child, &status, 0);
        unlink("script"), unlink("long"), unlink("link"), unlink("copy"), rmdir(here);
        return status != 0;
    }

    int kept = open("copy", O_RDONLY), closed = open("copy", O_RDONLY | O_CLOEXEC);
    int memory = memfd_create("memory", MFD_CLOEXEC);
    while ((got = read(kept, bytes, sizeof(bytes))) > 0)
        write(memory, bytes, (size_t)got);
    execute("/proc/self/exe", NULL);
    execute("/proc/self/exe", "zero");
    execute("/proc/thread-self/exe", "zero");
    execute(NULL, "zero");
    execute_descriptor("/proc/self", kept);
    execute_descriptor("/proc/self", closed);
    execute_descriptor("/dev", closed);
    execute_descriptor("/proc/self", memory);
    symlink("/proc/self/exe", "link");
    execute("link", "zero");
    execute("./link", NULL);
    unlink("link");
    write_script("script", "./copy", 20);
    execute("script", NULL);
    execute("./script", NULL);
    write_script("long", "./copy", 300);
    execute("./long", NULL);
    write_script("long", "./copy", 140);
    execute("./long", NULL);
    rename("copy", "moved");
    execute("/proc/self/exe", NULL);
    write_script("copy", "/bin/true", 1);
    execute("/proc/self/exe", "zero");
    unlink("moved");
    /* It goes on unrecorded, by the number of a descriptor. */
    setenv("UNNAMED", "1", 1);
    execute("/proc/self/exe", NULL);
    unsetenv("UNNAMED");
    execute_descriptor("/proc/self", kept);
    execute_descriptor("/proc/self", closed);
    execute("/proc/self/exe/none", NULL);
    return 0;
}
