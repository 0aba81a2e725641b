/* own_files.c - the names of /proc that lead into the process that asks. */
#include "net/own_files.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char *const fds[] = {"/proc/self/fd/", "/dev/fd/"};
static const char *const own[] = {"/proc/self/", "/proc/thread-self/", "/dev/fd/", "/dev/std"};

static bool name_begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

bool rlk_own_file_is(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (name_begins_with(name, own[i])) {
            return true;
        }
    }
    return false;
}

static int read_number(const char *text)
{
    int number = 0;

    if (*text == '\0') {
        return -1;
    }
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || number > (INT_MAX - 9) / 10) {
            return -1;
        }
        number = number * 10 + (*text - '0');
    }
    return number;
}

int rlk_own_file_number(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (name_begins_with(name, fds[i])) {
            return read_number(name + strlen(fds[i]));
        }
    }
    return -1;
}

void rlk_own_folder(char *folder, size_t size)
{
    if (getcwd(folder, size) == NULL || folder[0] != '/') {
        folder[0] = '\0';
    }
}
