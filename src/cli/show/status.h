/* status.h - the two ways in which redlock status prints who holds a key. */
#ifndef CLI_SHOW_STATUS_H
#define CLI_SHOW_STATUS_H

#include <stdio.h>

struct redlock;
struct redlock_query_result;

/* Print the result for people on stdout; `status` is the callback's. */
void cli_status_text_print(const struct redlock *rl, const char *key,
                           const struct redlock_query_result *result, int status);

/* Print it as one object of an array. */
void cli_status_json_print(FILE *out, const struct redlock *rl, const char *key,
                           const struct redlock_query_result *result);

/* The same without the brace that ends it: more fields may follow. */
void cli_status_json_fields(FILE *out, const struct redlock *rl, const char *key,
                            const struct redlock_query_result *result);

/* Who holds the key, in two parts: "held by ", "held by leader ", "held with the token " or "held
 * with ", and the owner text, the id or the value; or "" and "broken by WHO: REASON". */
const char *cli_status_holder(const struct redlock_query_result *result, const char **ret_how);

#endif
