/* proc.c - reads the process ids in /proc; see proc.h. */
#include "cli/system/proc.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

DIR *cli_proc_open(void)
{
    char self[32] = "";

    if (readlink("/proc/self", self, sizeof(self) - 1) <= 0 ||
        strtol(self, NULL, 10) != (long)getpid()) {
        return NULL;
    }
    return opendir("/proc");
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
