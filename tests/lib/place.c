/* lib/place.c - see place.h. */
#include "lib/place.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else /* musl: callers have no names */
static int backtrace(void **stack, int size)
{
    (void)stack, (void)size;
    return 0;
}
#endif

#define DEEPEST 48

static void cut_top(const char *path, char *ret_path, size_t size)
{
    static const char top[] = RLK_TOP "/";
    bool inside = strncmp(path, top, sizeof(top) - 1) == 0;

    snprintf(ret_path, size, "%s", inside ? path + sizeof(top) - 1 : path);
}

/* The end of this path that is a path from the top of the repository: a compiler cache may have
 * compiled the same file in another copy of the repository, from a folder with the name of ours. */
static const char *end_from_top(const char *path)
{
    char here[PATH_MAX];

    while ((path = strchr(path, '/')) != NULL) {
        snprintf(here, sizeof(here), RLK_TOP "/%s", ++path);
        if (strstr(path, "../") == NULL && access(here, F_OK) == 0) {
            return path;
        }
    }
    return NULL;
}

/* The compiler runs in the folder of the build, and gets paths from there. */
void place_of_file(const char *file, char *ret_path, size_t size)
{
    char path[PATH_MAX], real[PATH_MAX];
    const char *end;

    snprintf(path, sizeof(path), "%s%s", file[0] == '/' ? "" : RLK_BUILD "/", file);
    cut_top(realpath(path, real) ? real : file, ret_path, size);
    if (ret_path[0] == '/' && (end = end_from_top(ret_path)) != NULL) {
        memmove(ret_path, end, strlen(end) + 1);
    }
}

void place_of_program(char *ret_path, size_t size)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

    path[len > 0 ? len : 0] = '\0';
    cut_top(path, ret_path, size);
}

/* Runs addr2line with the addresses of those calls that this program itself made. */
static FILE *ask_for_names(void)
{
    char command[PATH_MAX + DEEPEST * 20], *at = command, *end = command + sizeof(command);
    void *stack[DEEPEST];
    int n = backtrace(stack, DEEPEST), i;
    Dl_info self, info;

    if (n == 0 || !dladdr((void *)(uintptr_t)place_of_callers, &self)) {
        return NULL;
    }
    at += snprintf(at, (size_t)(end - at), "exec addr2line -ifpe /proc/%d/exe", (int)getpid());
    for (i = 0; i < n; i++) {
        if (dladdr(stack[i], &info) && info.dli_fbase == self.dli_fbase) {
            at += snprintf(at, (size_t)(end - at), " %#tx",
                           (char *)stack[i] - (char *)self.dli_fbase - 1);
        }
    }
    snprintf(at, (size_t)(end - at), " 2>/dev/null");
    return popen(command, "re");
}

struct caller {
    char function[200];
    char file[PATH_MAX];
    int line;
};

/* "[ (inlined by) ]NAME at FILE:LINE[ (discriminator N)]" */
static bool parse(const char *text, struct caller *ret)
{
    static const char inlined[] = " (inlined by) ";
    char file[PATH_MAX];

    if (strncmp(text, inlined, sizeof(inlined) - 1) == 0) {
        text += sizeof(inlined) - 1;
    }
    if (sscanf(text, "%199s at %4095[^:]:%d", ret->function, file, &ret->line) != 3) {
        return false;
    }
    place_of_file(file, ret->file, sizeof(ret->file));
    return ret->file[0] != '/' && ret->file[0] != '?';
}

static bool is_ours(const struct caller *caller)
{
    return strcmp(caller->file, "tests/lib/place.c") == 0 ||
           strcmp(caller->file, "tests/lib/runner.c") == 0;
}

/* The runner called the test. The calls between the runner and here are printed. */
int place_of_callers(const char *file, char *ret_text, size_t size)
{
    FILE *names = ask_for_names();
    char text[PATH_MAX + 300];
    struct caller caller;
    bool inside = false, done = false;
    size_t len = 0;
    int line = 0;

    ret_text[0] = '\0';
    while (names && fgets(text, sizeof(text), names)) {
        if (done || !parse(text, &caller)) {
            continue;
        }
        done = inside && is_ours(&caller);
        if (!is_ours(&caller)) {
            inside = true;
            line = line == 0 && strcmp(caller.file, file) == 0 ? caller.line : line;
            len += len < size ? (size_t)snprintf(ret_text + len, size - len, "\n  in %s (%s:%d)",
                                                 caller.function, caller.file, caller.line)
                              : 0;
        }
    }
    if (names) {
        pclose(names);
    }
    if (!done) { /* a thread other than the test's, or no debug information */
        ret_text[0] = '\0';
        return 0;
    }
    return line;
}
