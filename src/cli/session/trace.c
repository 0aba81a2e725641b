/* trace.c - prints the events of the manager as the library writes them. */
#include "cli/session/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"

/* Several commands may share a terminal or a log, so each line begins with the process id. */
static void on_trace_event(const struct redlock_trace *event, void *arg)
{
    struct redlock_trace ev = *event;
    char line[REDLOCK_TRACE_LINE];

    (void)arg;
    ev.client = (uint64_t)getpid();
    redlock_trace_line(&ev, line, sizeof(line));
    cli_say_bare("%s", line);
}

int cli_trace_find(const char *command, const struct cli_connect *connect,
                   struct redlock_options *options)
{
    const char *word = getenv(cli_settings[CLI_TRACE].variable);
    bool said = word && word[0] && strcmp(word, "0") != 0;

    if (said && strcmp(word, "1") != 0) {
        return cli_say_usage(command, "REDLOCK_TRACE '%s' is unknown: it must be 1 or 0", word);
    }
    if (said || connect->values[CLI_TRACE]) {
        options->trace_cb = on_trace_event;
    }
    return CLI_GO_ON;
}
