/* list.h - what redlock list has found, and the two ways in which it prints that. */
#ifndef CLI_SHOW_LIST_H
#define CLI_SHOW_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct redlock;
struct redlock_list_summary;
struct redlock_listed;

/* A line for each key. They are printed in order, so they are kept until all are there. */
struct cli_list_lines {
    char **lines;
    size_t n, room;
};

/* What is printed of a list besides its keys. */
struct cli_list_end {
    const struct redlock_list_summary *summary;
    int status;    /* of the callback */
    size_t shown;  /* keys */
    size_t unread; /* keys that no master tells us about */
    const char *unread_why;
};

/* A key as a text: NULs in it become "\x00". The caller frees it; NULL: out of memory. */
char *cli_list_key(const struct redlock_listed *listed);

/* Note the line of a key. False: out of memory. */
bool cli_list_text_add(struct cli_list_lines *lines, const struct redlock *rl,
                       const struct redlock_listed *listed);

/* Print the lines, at most so many (0: all), and what the list cost. They are freed. */
void cli_list_text_print(struct cli_list_lines *lines, unsigned most, const struct redlock *rl,
                         const struct cli_list_end *end);
void cli_list_text_free(struct cli_list_lines *lines);

/* Print an object: its beginning, each key, and its end. */
void cli_list_json_begin(void);
bool cli_list_json_key(const struct redlock *rl, const struct redlock_listed *listed, bool first);
void cli_list_json_end(const struct redlock *rl, const struct cli_list_end *end);

#endif
