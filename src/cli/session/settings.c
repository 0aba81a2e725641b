/* settings.c - reads the settings, including those that only the command has: the password command
 * and the trace. */
#include "cli/session/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"

/* ---- the trace ---- */

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

static int find_trace(const struct cli_args *args, struct redlock_options *options)
{
    const char *word = getenv(rlk_setting_rows[RLK_SETTING_TRACE].variable);
    bool said = word && word[0] && strcmp(word, "0") != 0;

    if (said && strcmp(word, "1") != 0) {
        return cli_say_usage(args->command->name,
                             "REDLOCK_TRACE '%s' is unknown: it must be 1 or 0", word);
    }
    if (said || args->settings[RLK_SETTING_TRACE]) {
        options->trace_cb = on_trace_event;
    }
    return CLI_GO_ON;
}

/* ---- all of it ---- */

static int no_masters(const char *from)
{
    cli_say("no masters are named%s%s; name them in one of these ways:", from[0] ? " in " : "",
            from);
    cli_say_more("redlock ... --nodes redis://a.example:6379,redis://b.example,redis://c.example");
    cli_say_more("export REDLOCK_NODES='redis://a.example redis://b.example redis://c.example'");
    cli_say_more("one URI per line in ~/.config/redlock/nodes or /etc/redlock/nodes");
    cli_say_more("To try redlock on private masters: redlock sandbox");
    return CLI_USAGE;
}

static int find_settings(const struct cli_args *args, struct cli_settings *settings)
{
    struct redlock_options *options = &settings->options;
    char text[1024] = "";
    int status;

    redlock_options_init(options);
    options->error_text = text;
    options->error_text_size = sizeof(text);
    status = rlk_settings_find(args->settings, &settings->found, options);
    options->error_text = NULL;
    options->error_text_size = 0;
    if (status != 0) {
        return status == REDLOCK_ENOMEM ? cli_say_no_memory() : cli_say_setting("%s", text);
    }
    return CLI_GO_ON;
}

/* Looks for the unread file only when a message will name it. */
static void say_source(const struct rlk_node_list *nodes)
{
    char unread[4096];

    if (nodes->path) {
        cli_say_detail("using the masters in %s", nodes->path);
    } else if (cli_say_is_verbose() && rlk_node_list_unread(nodes, unread, sizeof(unread))) {
        cli_say_detail("%s is given, so %s is not read, nor its settings", nodes->from, unread);
    }
}

static int add_own(const struct cli_args *args, struct cli_settings *settings)
{
    const struct rlk_node_list *nodes = &settings->found.sources.nodes;
    int code;

    say_source(nodes);
    if (settings->options.n_nodes == 0) {
        return no_masters(nodes->from);
    }
    settings->options.client_name = "redlock";
    code = cli_password_find(args->command->name, &settings->found, &settings->password,
                             &settings->options);
    return code == CLI_GO_ON ? find_trace(args, &settings->options) : code;
}

int cli_settings_find(const struct cli_args *args, struct cli_settings *ret_settings)
{
    struct cli_settings settings = {.password = {.fd = -1}};
    int code = find_settings(args, &settings);

    if (code != CLI_GO_ON) {
        return code;
    }
    code = add_own(args, &settings);
    if (code != CLI_GO_ON) {
        cli_settings_free(&settings);
        return code;
    }
    *ret_settings = settings;
    return CLI_OK;
}

int cli_settings_refuse(const struct cli_settings *settings, int node, const char *text)
{
    const struct rlk_node_list *nodes = &settings->found.sources.nodes;

    if (nodes->path && node >= 0 && (unsigned)node < nodes->config.n) {
        return cli_say_setting("%s:%u: %s", nodes->from, nodes->config.lines[node], text);
    }
    return cli_say_setting("%s: %s", nodes->from, text);
}

void cli_settings_free(struct cli_settings *settings)
{
    cli_password_free(&settings->password);
    rlk_settings_end(&settings->found);
}
