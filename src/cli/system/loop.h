/* loop.h - the event loop of a command.
 *
 * It never runs but in cli_loop_run() and cli_loop_watch(), so the commands are straight lines:
 * begin something, run until it is done, go on.
 */
#ifndef CLI_SYSTEM_LOOP_H
#define CLI_SYSTEM_LOOP_H

#include <stdbool.h>

struct event_base;

struct cli_loop {
    struct event_base *base;
    void (*on_turn)(
        void *arg); /* called after each turn; NULL: nothing is. To be changed at will */
    void *arg;
};

/* What runs first: an event with this priority goes before all of the library's. While one is due
 * nothing else happens, so its callback reads all there is, and removes it at the end of the file.
 */
#define CLI_LOOP_URGENT 0

/* Returns CLI_OK, and cli_loop_close() is to be called; or says what is wrong and returns
 * CLI_INTERNAL. */
int cli_loop_open(struct cli_loop *ret_loop);

/* Run it until *done. Returns CLI_GO_ON, or CLI_INTERNAL when the loop is broken, which was said.
 */
int cli_loop_run(struct cli_loop *loop, const bool *done);

/* Run it until is_over(arg), which is asked now and again every few milliseconds. Returns as
 * cli_loop_run(). */
int cli_loop_watch(struct cli_loop *loop, bool (*is_over)(void *arg), void *arg);

void cli_loop_close(struct cli_loop *loop);

#endif
