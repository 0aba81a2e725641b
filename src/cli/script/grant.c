/* grant.c - prints a lock as JSON, or as lines that a shell evaluates. */
#include "cli/script/grant.h"

#include <inttypes.h>
#include <stdio.h>

#include <redlock/lock.h>

#include "cli/say/json.h"

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
static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
        } else {
            putchar(*text);
        }
    }
    putchar('\'');
}

static void print_shell(const struct redlock_lock *lock)
{
    uint64_t fencing_token = redlock_lock_fencing_token(lock);

    printf("token=");
    print_quoted(redlock_lock_token(lock));
    printf("\nfencing_token=");
    if (fencing_token) {
        printf("%" PRIu64, fencing_token);
    }
    printf("\nvalid_ms=%" PRIu64 "\ndeadline_us=%" PRIu64 "\n", redlock_lock_validity_ms(lock),
           redlock_lock_deadline_us(lock));
}

bool cli_grant_print(const struct cli_grant_format *format, const struct redlock_lock *lock)
{
    if (format->json) {
        print_json(lock);
    } else if (format->shell) {
        print_shell(lock);
    }
    return format->json || format->shell;
}
