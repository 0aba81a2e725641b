/* record.h - texts about the record of the masters, and about what differs from it here. */
#ifndef CLI_SESSION_RECORD_H
#define CLI_SESSION_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <redlock/record.h>

struct cli_session;
struct redlock;

/* Enough for a line about a master. */
#define CLI_RECORD_LINE 1024

/* What is known of the record. */
struct redlock_record_info cli_record_of(const struct redlock *rl);

/* Our masters or --max-ttl are not those on record. */
bool cli_record_differs(const struct redlock *rl);

/* What differs: a sentence without a full stop; "": nothing. */
const char *cli_record_error(const struct redlock *rl);

/* A sentence about the state of the record without a full stop, which begins with a lower-case
 * letter. Returns `text`, of CLI_RECORD_LINE bytes. */
const char *cli_record_sentence(const struct redlock *rl, char *text);

/* It became a master with the last change. */
bool cli_record_is_new(const struct redlock_record_info *info,
                       const struct redlock_record_master *master);

/* A line about an entry of the record. Returns `text`, of CLI_RECORD_LINE bytes; NULL: there is no
 * such entry. */
const char *cli_record_entry(const struct redlock *rl, size_t index, char *text);

/* A line about one of our masters: its name, and whether it is on record. NULL: there is no such
 * master. */
const char *cli_record_ours(const struct redlock *rl, size_t index, char *text);

/* Write the state of the record as a JSON object, without the masters. */
void cli_record_json(FILE *out, const struct redlock *rl);

/* Where our masters are listed, and the max-ttl: "by --nodes, max-ttl 10.0 s". */
const char *cli_record_source(const struct cli_session *session, char *text);

/* Write how the list of the settings differs from the record. Clients with this list get locks all
 * the same, because they follow the record. False: nothing was written. */
bool cli_record_outdated(const struct cli_session *session, char *ret_text, size_t size);

/* Our masters are not those on record: print both lists, and what to do. Returns CLI_CONFIG. */
int cli_record_explain(const struct cli_session *session);

/* What to do, without the lists. */
void cli_record_advise(void);

#endif
