/* masters_text.c - prints the record for people: its state, its entries, and what differs here. */
#include "cli/show/masters.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "settings/duration.h"
#include "cli/say/say.h"
#include "cli/session/record.h"
#include "cli/session/session.h"

/* A server that was emptied more than once has a former entry for each time: the last one is shown.
 */
static bool is_repeated(const struct redlock *rl, size_t index)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    char address[CLI_RECORD_LINE];
    uint32_t until;
    size_t i;

    redlock_get_record_master(rl, index, &m);
    until = m.until_epoch;
    snprintf(address, sizeof(address), "%s", m.address);
    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        if (strcmp(m.address, address) == 0 &&
            (m.until_epoch > until || (m.until_epoch == until && i > index))) {
            return true;
        }
    }
    return false;
}

static void print_entries(const struct redlock *rl, bool former)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    char text[CLI_RECORD_LINE];
    size_t i;

    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        if ((m.until_epoch > 0) == former && !(former && is_repeated(rl, i))) {
            cli_say_out("%s\n", cli_record_entry(rl, i, text));
        }
    }
}

static void print_ours(const struct cli_session *session)
{
    char text[CLI_RECORD_LINE];
    const char *line;
    size_t i;

    cli_say_out("\n");
    cli_say_out("Given here (%s):\n", cli_record_source(session, text));
    for (i = 0; (line = cli_record_ours(session->rl, i, text)); i++) {
        cli_say_out("%s\n", line);
    }
}

void cli_masters_text_print(const struct cli_session *session)
{
    struct redlock_record_info info = cli_record_of(session->rl);
    char text[CLI_RECORD_LINE], outdated[8 * CLI_RECORD_LINE];

    cli_say_out("record of the masters: %s\n", cli_record_sentence(session->rl, text));
    if (info.state == REDLOCK_RECORD_OTHER && info.epoch > 0) {
        cli_say_out("\n");
        cli_say_out("On record (epoch %" PRIu32 ", max-ttl %s):\n", info.epoch,
                    rlk_duration(info.max_ttl_ms));
    }
    print_entries(session->rl, false);
    print_entries(session->rl, true);
    if (info.state == REDLOCK_RECORD_OTHER) {
        print_ours(session);
    } else if (cli_record_outdated(session, outdated, sizeof(outdated))) {
        cli_say_out("The list of masters is out of date: %s.\n", outdated);
    }
}
