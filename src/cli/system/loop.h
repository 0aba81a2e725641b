/* loop.h - the event loop of a command.
 *
 * It runs only in cli_loop_run() and cli_loop_watch(). So each command is a straight line: begin
 * something, run the loop until it is done, go on.
 */
#ifndef CLI_SYSTEM_LOOP_H
#define CLI_SYSTEM_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct event_base;

struct cli_loop {
    struct event_base *base;
    void (*on_turn)(
        void *arg); /* called after each turn; NULL: not called. May be changed at any time */
    void *arg;
};

/* The first priority: such an event runs before all events of the library. While it is due no other
 * event runs, so its callback reads all there is, and deletes the event at the end of the file.
 */
#define CLI_LOOP_URGENT 0

/* The last priority: such an event waits until no event of the library is due. */
#define CLI_LOOP_LAST 2

/* Returns CLI_OK, and the caller calls cli_loop_close(); or says what is wrong and returns
 * CLI_INTERNAL. */
int cli_loop_open(struct cli_loop *ret_loop);

/* Run the loop until *done. Returns CLI_GO_ON; or says what is wrong and returns CLI_INTERNAL when
 * the loop failed.
 */
int cli_loop_run(struct cli_loop *loop, const bool *done);

/* Run the loop until is_over(arg) returns true; it is called now and then every 2 ms. Returns as
 * cli_loop_run(). */
int cli_loop_watch(struct cli_loop *loop, bool (*is_over)(void *arg), void *arg);

/* An alarm, by the clock of a lease (system/clock.h). A timer of the loop could fire a moment too
 * early by that clock. */
struct cli_alarm {
    int fd;
    struct event *event;
};

/* Set *done at that time, or at once when there can be no alarm. */
void cli_alarm_open(struct cli_alarm *ret_alarm, const struct cli_loop *loop, uint64_t at_us,
                    bool *done);
void cli_alarm_close(const struct cli_alarm *alarm);

/* As event_free(); NULL does nothing. */
void cli_event_free(struct event *event);

void cli_loop_close(struct cli_loop *loop);

#endif
