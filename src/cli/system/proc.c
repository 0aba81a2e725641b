/* proc.c - reads the process ids in /proc; see proc.h. */
#include "cli/system/proc.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/say/say.h"

static bool is_ours(void)
{
    char self[32] = "";

    return readlink("/proc/self", self, sizeof(self) - 1) > 0 &&
           strtol(self, NULL, 10) == (long)getpid();
}

DIR *cli_proc_open(void)
{
    return is_ours() ? opendir("/proc") : NULL;
}

pid_t cli_proc_next(DIR *processes)
{
    const struct dirent *entry;

    while (processes && (entry = readdir(processes))) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            return (pid_t)strtol(entry->d_name, NULL, 10);
        }
    }
    if (processes) {
        closedir(processes);
    }
    return 0;
}

FILE *cli_proc_open_children(void)
{
    return is_ours() ? fopen("/proc/thread-self/children", "re") : NULL;
}

pid_t cli_proc_next_child(FILE *children)
{
    long pid;

    if (fscanf(children, "%ld", &pid) == 1) {
        return (pid_t)pid;
    }
    fclose(children);
    return 0;
}

void cli_proc_check(void)
{
    if (!is_ours()) {
        cli_say(
            "/proc is not mounted, or belongs to another PID namespace: what CMD starts outside "
            "its process group cannot be found, and may outlive the lock");
    }
}
