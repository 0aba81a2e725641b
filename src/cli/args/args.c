/* args.c - reads the command line with getopt_long(). The messages are our own: those of getopt
 * repeat the text after a '=', which may be a password.
 */
#include "cli/args/args.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/args/similar.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "settings/value.h"

/* Say what is wrong with a value, unless it was stored. */
static int check_value(const char *command, int status, const char *text)
{
    return status == 0 ? CLI_GO_ON : cli_say_usage(command, "%s", text);
}

int cli_args_duration(const char *command, const char *option, const char *value, uint32_t min_ms,
                      uint32_t max_ms, uint32_t *ret_ms)
{
    char text[512];
    struct rlk_error_text error = {text, sizeof(text)};

    return check_value(command, rlk_value_time(option, value, min_ms, max_ms, &error, ret_ms),
                       text);
}

int cli_args_number(const char *command, const char *option, const char *value, int min, int max,
                    int *ret_number)
{
    char text[512];
    struct rlk_error_text error = {text, sizeof(text)};

    return check_value(command, rlk_value_number(option, value, min, max, &error, ret_number),
                       text);
}

/* `what` and `of` say what the operand is. */
static int read_key(const char *command, const char *what, const char *of, int argc, char **argv,
                    const char **ret_key)
{
    const char *key;

    if (optind >= argc) {
        return cli_say_usage(command, "%s, the name of the %s, is missing", what, of);
    }
    key = argv[optind++];
    if (!key[0]) {
        return cli_say_usage(command, "%s, the name of the %s, is empty", what, of);
    }
    if (strlen(key) > REDLOCK_MAX_KEY) {
        return cli_say_usage(command, "%s has %zu bytes, but at most %d are allowed", what,
                             strlen(key), REDLOCK_MAX_KEY);
    }
    *ret_key = key;
    return CLI_GO_ON;
}

int cli_args_key(const char *command, int argc, char **argv, const char **ret_key)
{
    return read_key(command, "KEY", "lock", argc, argv, ret_key);
}

int cli_args_name(const char *command, int argc, char **argv, const char **ret_name)
{
    return read_key(command, "NAME", "election", argc, argv, ret_name);
}

int cli_args_keys(const char *command, int argc, char **argv, bool needed)
{
    int first = optind, code = CLI_GO_ON;
    const char *key;

    while (code == CLI_GO_ON && (optind < argc || (needed && optind == first))) {
        code = cli_args_key(command, argc, argv, &key);
    }
    optind = first;
    return code;
}

int cli_args_key_refused(const char *command)
{
    return cli_say_usage(command,
                         "KEY and --key-prefix (or REDLOCK_KEY_PREFIX) have more than %d bytes "
                         "together",
                         REDLOCK_MAX_KEY);
}

int cli_args_owner(const char *command, const char *option, const char *owner)
{
    if (strlen(owner) > REDLOCK_MAX_OWNER) {
        return cli_say_usage(command, "%s is too long: at most %d bytes are allowed", option,
                             REDLOCK_MAX_OWNER);
    }
    for (; *owner; owner++) {
        if (*owner < 0x20 || *owner > 0x7e) {
            return cli_say_usage(command, "%s must be printable ASCII text", option);
        }
    }
    return CLI_GO_ON;
}

void cli_args_skip_dashes(const struct cli_args *args, int argc, char **argv)
{
    if (args->ended && optind < argc && strcmp(argv[optind], "--") == 0) {
        optind++;
    }
}

int cli_args_end(const char *command, int argc, char **argv)
{
    if (optind < argc) {
        return cli_say_usage(command, "unexpected argument '%s'", argv[optind]);
    }
    return CLI_GO_ON;
}

/* ---- the options ---- */

/* What getopt_long() returns: a letter, or one of these, plus the number of the row. */
enum {
    OPTION_ROW = 256,
    OPTION_SETTING = 512,
    OPTION_PASSWORD = 768,
    OPTION_HELP,
    OPTION_VERBOSE
};

/* More than any command has. */
#define MAX_OPTIONS 48

/* The tables as getopt_long() wants them. */
struct table {
    struct option options[MAX_OPTIONS];
    const struct cli_option *rows[MAX_OPTIONS]; /* of the first ones */
    size_t n;
    char letters[MAX_OPTIONS];
};

static void add_name(struct table *table, const char *name, int has_arg, int number)
{
    assert(table->n + 1 < MAX_OPTIONS);
    table->options[table->n++] = (struct option){name, has_arg, NULL, number};
}

static int argument_of(enum cli_option_kind kind)
{
    return kind == CLI_FLAG         ? no_argument
           : kind == CLI_MAYBE_TIME ? optional_argument
                                    : required_argument;
}

static void add_options(struct table *table, const struct cli_option *rows)
{
    const struct cli_option *row;

    for (row = rows; row && row->name; row++) {
        int has_arg = argument_of(row->kind);
        const char letter[] = {row->letter, has_arg == no_argument ? '\0' : ':', '\0'};

        table->rows[table->n] = row;
        add_name(table, row->name, has_arg, OPTION_ROW + (int)table->n);
        strcat(table->letters, row->letter ? letter : "");
    }
}

/* "password" is listed only to be refused: otherwise getopt would take it for "password-file", and
 * a message would show the password as the name of a file. */
static void add_settings(struct table *table)
{
    int i;

    for (i = 0; i < RLK_SETTINGS; i++) {
        add_name(table, rlk_setting_rows[i].name,
                 cli_master_options[i].has_no_value ? no_argument
                 : cli_master_options[i].usual      ? optional_argument
                                                    : required_argument,
                 OPTION_SETTING + i);
    }
    add_name(table, "password", required_argument, OPTION_PASSWORD);
}

static void make_table(struct table *table, const struct cli_subcommand *command)
{
    memset(table, 0, sizeof(*table));
    strcpy(table->letters, command->traits & CLI_HAS_CMD ? "+:hv" : ":hv");
    add_options(table, command->options[0]);
    add_options(table, command->options[1]);
    if (!(command->traits & CLI_WITHOUT_MASTERS)) {
        add_settings(table);
    }
    add_name(table, "help", no_argument, OPTION_HELP);
    add_name(table, "verbose", no_argument, OPTION_VERBOSE);
}

static int take_time(const char *command, const struct cli_option *row, const char *value,
                     uint32_t *ret_ms)
{
    char name[32];

    if (value == NULL) {
        *ret_ms = row->usual;
        return CLI_GO_ON;
    }
    snprintf(name, sizeof(name), "--%s", row->name);
    return cli_args_duration(command, name, value, row->min, row->max, ret_ms);
}

static int take_number(const char *command, const struct cli_option *row, const char *value,
                       int *ret_number)
{
    char name[32];

    snprintf(name, sizeof(name), "--%s", row->name);
    return cli_args_number(command, name, value, (int)row->min, (int)row->max, ret_number);
}

static int take_option(const struct cli_args *args, const struct cli_option *row, const char *value)
{
    void *field = (char *)args->arg + row->field;

    switch (row->kind) {
    case CLI_FLAG:
        *(bool *)field = true;
        return CLI_GO_ON;
    case CLI_TEXT:
        *(const char **)field = value;
        return CLI_GO_ON;
    case CLI_NUMBER:
        return take_number(args->command->name, row, value, field);
    case CLI_CALL:
        return row->take(args->arg, value);
    case CLI_TIME:
    case CLI_MAYBE_TIME:
        break;
    }
    return take_time(args->command->name, row, value, field);
}

/* A time and a number are checked here, so that mistakes are reported in the order of the command
 * line. */
static int take_setting(struct cli_args *args, enum rlk_setting setting, const char *value)
{
    const struct rlk_setting_row *row = &rlk_setting_rows[setting];
    const struct cli_option checked = {row->name,
                                       row->kind == RLK_KIND_TIME ? CLI_TIME : CLI_NUMBER,
                                       .min = row->min, .max = row->max};
    const char *usual = cli_master_options[setting].usual;
    uint32_t ms;
    int number;

    args->settings[setting] = value ? value : usual ? usual : "";
    if (row->kind == RLK_KIND_TIME) {
        return take_time(args->command->name, &checked, value, &ms);
    }
    return row->kind == RLK_KIND_NUMBER && value
               ? take_number(args->command->name, &checked, value, &number)
               : CLI_GO_ON;
}

static int refuse_password(const char *command)
{
    return cli_say_usage(command,
                         "--password is not allowed, as every user can see the arguments of "
                         "a process; use --password-file FILE, --password-command CMD or "
                         "REDLOCK_PASSWORD");
}

/* Refuse an option that getopt_long() refused. The message is `before`, the name and `after`; `at`
 * is the argument with the name if the option is a long one. */
static int refuse_option(const struct cli_args *args, const char *at, const char *before,
                         const char *after)
{
    if (optopt > 0 && optopt < OPTION_ROW) {
        return cli_say_usage(args->command->name, "%s -%c%s", before, optopt, after);
    }
    return cli_say_usage(args->command->name, "%s %.*s%s", before, (int)strcspn(at, "="), at,
                         after);
}

/* The number of long options that `at` may be an abbreviation of. */
static int count_matches(const struct table *table, const char *at)
{
    size_t length = strcspn(at, "="), i;
    int matches = 0;

    for (i = 0; i < table->n; i++) {
        matches += length > 2 && strncmp(table->options[i].name, at + 2, length - 2) == 0;
    }
    return matches;
}

/* What the first line of the help calls the operand of the command. */
static const char *operand_of(const struct cli_subcommand *command)
{
    static const char *const operands[] = {"KEY", "NAME", "PREFIX"};
    const char *help = command->help[0], *end = strchr(help, '\n');
    size_t i;

    for (i = 0; i < sizeof(operands) / sizeof(operands[0]); i++) {
        const char *at = strstr(help, operands[i]);

        if (at && at < end) {
            return operands[i];
        }
    }
    return NULL;
}

/* The long option that `at` may be a misspelling of; NULL: none. */
static const char *find_similar(const struct table *table, const char *at)
{
    struct cli_similar similar;
    size_t i;

    if (strncmp(at, "--", 2) != 0) {
        return NULL;
    }
    cli_similar_begin(&similar, at + 2, strcspn(at + 2, "="));
    for (i = 0; i < table->n; i++) {
        if (table->options[i].val != OPTION_PASSWORD) {
            cli_similar_offer(&similar, table->options[i].name);
        }
    }
    return similar.best;
}

/* optopt is 0 for a long option that is not in the table, and for an abbreviation of several. */
static int refuse_unknown(const struct cli_args *args, const struct table *table, const char *at)
{
    const char *operand = operand_of(args->command), *similar;
    char hint[128] = "";

    if (optopt >= OPTION_ROW) {
        return refuse_option(args, at, "option", " takes no value");
    }
    if (optopt == 0 && count_matches(table, at) > 1) {
        return refuse_option(args, at, "option", " is ambiguous: write it in full");
    }
    similar = optopt == 0 ? find_similar(table, at) : NULL;
    if (similar) {
        snprintf(hint, sizeof(hint), " (did you mean --%s?)", similar);
    } else if (operand) {
        snprintf(hint, sizeof(hint),
                 "; if a %s begins with a dash, write the options first, then --, then the %s",
                 operand, operand);
    }
    return refuse_option(args, at, "unknown option", hint);
}

/* The row of a short option: getopt_long() knows only letters from these tables. */
static const struct cli_option *find_letter(const struct table *table, int letter)
{
    size_t at = 0;

    while (table->rows[at]->letter != letter) {
        at++;
    }
    return table->rows[at];
}

static int take_row(struct cli_args *args, const struct table *table, int option)
{
    if (option >= OPTION_SETTING) {
        return take_setting(args, (enum rlk_setting)(option - OPTION_SETTING), optarg);
    }
    return take_option(
        args, option >= OPTION_ROW ? table->rows[option - OPTION_ROW] : find_letter(table, option),
        optarg);
}

static int take_any(struct cli_args *args, const struct table *table, int option, const char *at)
{
    switch (option) {
    case 'h':
    case OPTION_HELP:
        return cli_help_print(args->command);
    case 'v':
    case OPTION_VERBOSE:
        cli_say_verbose();
        return CLI_GO_ON;
    case OPTION_PASSWORD:
        return refuse_password(args->command->name);
    case ':':
        return refuse_option(args, at, "option", " needs a value");
    case '?':
        return refuse_unknown(args, table, at);
    default:
        return take_row(args, table, option);
    }
}

/* `lock k --key-prefix -- CMD`: the value was forgotten, for example because a variable is empty.
 * It can still be written as --key-prefix=--. */
static bool takes_dashes(char **argv)
{
    return optarg && optarg == argv[optind - 1] && strcmp(optarg, "--") == 0;
}

static bool has_optional_value(const struct table *table, int option)
{
    if (option >= OPTION_SETTING) {
        return option < OPTION_PASSWORD && cli_master_options[option - OPTION_SETTING].usual;
    }
    return option >= OPTION_ROW && table->rows[option - OPTION_ROW]->kind == CLI_MAYBE_TIME;
}

/* `status k --watch 5s`: 5s would be a KEY. */
static bool is_value_apart(const struct table *table, int option, int argc, char **argv)
{
    struct rlk_error_text none = {NULL, 0};
    uint32_t ms;

    return has_optional_value(table, option) && optarg == NULL && optind < argc &&
           (rlk_value_time("", argv[optind], 0, UINT32_MAX, &none, &ms) == 0 ||
            (argv[optind][0] && argv[optind][strspn(argv[optind], "0123456789")] == '\0'));
}

/* Refuse a value that was forgotten, or is not where it counts. */
static int check_place(const struct cli_args *args, const struct table *table, int option, int argc,
                       char **argv)
{
    if (takes_dashes(argv)) {
        return cli_say_usage(args->command->name, "option %s needs a value before the --",
                             argv[optind - 2]);
    }
    if (is_value_apart(table, option, argc, argv)) {
        return cli_say_usage(args->command->name,
                             "write %s=%s: without = that value would be an argument of its own",
                             argv[optind - 1], argv[optind]);
    }
    return CLI_GO_ON;
}

int cli_args_read(struct cli_args *args, int argc, char **argv)
{
    struct table table;
    int code = CLI_GO_ON;

    make_table(&table, args->command);
    opterr = 0;
    while (code == CLI_GO_ON) {
        int option = getopt_long(argc, argv, table.letters, table.options, NULL);

        if (option < 0) {
            break;
        }
        code = check_place(args, &table, option, argc, argv);
        code = code == CLI_GO_ON ? take_any(args, &table, option, argv[optind - 1]) : code;
    }
    args->ended = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
    return code;
}
