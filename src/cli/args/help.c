/* help.c - prints the help, with the parts that several commands have in common. */
#include "cli/args/args.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/say/say.h"

/* How wide a list of options may be. */
#define WIDTH 90

/* Where the explanation of an option begins. */
#define INDENT 22

static const char masters_begin[] =
    "usage: redlock COMMAND [OPTION...]\n"
    "\n"
    "The options about the masters, for all commands except sandbox. An option takes precedence\n"
    "over its variable, and that over the file of masters. All clients must use the same\n"
    "masters, key prefix and --max-ttl, and should use the same quarantine policy. The command\n"
    "`redlock masters` shows which masters are on record.\n"
    "\n";

static const char masters_end[] =
    "\n"
    "The file is $REDLOCK_CONFIG, ~/.config/redlock/nodes or /etc/redlock/nodes: one URI per\n"
    "line, and a line such as max-ttl = 2m for each of these options but --nodes and --trace.\n"
    "\n"
    "example:\n"
    "  redlock nodes --nodes redis://a.example,redis://b.example,redis://c.example\n";

static void explain(enum rlk_setting setting)
{
    const struct rlk_setting_row *row = &rlk_setting_rows[setting];
    const struct cli_master_option *option = &cli_master_options[setting];
    int width = 4 + (int)strlen(row->name) + (int)strlen(option->value);
    const char *p;

    printf("  --%s%s%*s", row->name, option->value, width < INDENT ? INDENT - width : 2, "");
    for (p = option->help; *p; p++) {
        if (*p == '\n') {
            printf("\n%*s", INDENT, "");
        } else {
            putchar(*p);
            fputs(*p == '$' && !isupper((unsigned char)p[1]) ? row->variable : "", stdout);
        }
    }
    putchar('\n');
}

int cli_help_masters(void)
{
    int i;

    fputs(masters_begin, stdout);
    for (i = 0; i < RLK_SETTINGS; i++) {
        explain((enum rlk_setting)i);
    }
    return cli_say_print(masters_end);
}

/* The names are listed for the completions, which read them here. */
static void list_masters(void)
{
    size_t column = WIDTH;
    int i;

    fputs("\noptions about the masters (`redlock help masters` explains them):", stdout);
    for (i = 0; i < RLK_SETTINGS; i++) {
        size_t width = strlen(rlk_setting_rows[i].name) + 3;
        bool fits = column + width <= WIDTH;

        column = fits ? column + width : width + 1;
        printf("%s--%s", fits ? " " : "\n  ", rlk_setting_rows[i].name);
    }
    fputs("\n"
          "Without --nodes: $REDLOCK_NODES, ~/.config/redlock/nodes or /etc/redlock/nodes.\n"
          "TIME is a number with a unit, such as 500ms, 10s, 1.5s, 2m, 1h, 1d or 1h30m; without a\n"
          "unit it means seconds.\n",
          stdout);
}

int cli_help_print(const struct cli_subcommand *command)
{
    fputs(command->help[0], stdout);
    fputs("  -v, --verbose       report on stderr what changes; twice (-vv): each renewal, too\n"
          "  -h, --help          print this text\n",
          stdout);
    if (!(command->traits & CLI_WITHOUT_MASTERS)) {
        list_masters();
    }
    return cli_say_print(command->help[1]);
}
