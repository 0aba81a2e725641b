/* grant.c - prints a lock as JSON, or as lines that a shell evaluates. */
#include "cli/script/grant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/lock.h>

#include "cli/say/escape.h"
#include "cli/say/exit.h"
#include "cli/say/json.h"
#include "cli/say/say.h"

static void print_json(const struct redlock_lock *lock)
{
    uint64_t fencing_token = redlock_lock_fencing_token(lock);

    printf("{\"token\": ");
    cli_json_string(stdout, redlock_lock_token(lock));
    cli_json_number(stdout, "fencing_token", fencing_token > 0, (int64_t)fencing_token);
    cli_json_number(stdout, "valid_ms", true, (int64_t)redlock_lock_validity_ms(lock));
    cli_json_number(stdout, "deadline_us", true, (int64_t)redlock_lock_deadline_us(lock));
    printf("}\n");
}

/* The owner text in a token may be any printable text. */
static void print_shell(const struct redlock_lock *lock, bool is_new)
{
    uint64_t fencing_token = redlock_lock_fencing_token(lock);

    printf("token=%s\n", cli_shell_word(redlock_lock_token(lock), REDLOCK_MAX_OWNER + 64));
    if (fencing_token) {
        printf("fencing_token=%" PRIu64 "\n", fencing_token);
    } else if (is_new) {
        printf("fencing_token=\n");
    }
    printf("valid_ms=%" PRIu64 "\ndeadline_us=%" PRIu64 "\n", redlock_lock_validity_ms(lock),
           redlock_lock_deadline_us(lock));
}

bool cli_grant_print(const struct cli_grant_format *format, const struct redlock_lock *lock)
{
    if (format->json) {
        print_json(lock);
    } else if (format->shell) {
        print_shell(lock, format->is_new);
    }
    return format->json || format->shell;
}

/* The command line itself may be what is wrong, so that not all of it was read. getopt_long()
 * accepts an abbreviation, too. */
static bool wants_shell(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strlen(argv[i]) > 2 && strncmp("--shell", argv[i], strlen(argv[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* If a write to stdout has failed before, this one fails as well. The failure was reported. */
void cli_grant_fail(const char *variables, int argc, char **argv, int code)
{
    if (wants_shell(argc, argv)) {
        printf("unset %s; (exit %d)\n", variables, code);
        fflush(stdout);
    }
}

int cli_grant_check(const struct cli_grant_format *format, const char *command)
{
    return format->json && format->shell
               ? cli_say_usage(command, "--json and --shell are both given: give one of them")
               : CLI_GO_ON;
}
