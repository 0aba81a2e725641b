/* signals.h - signals as events.
 *
 * The signals that matter are blocked and read from a signalfd: no handler ever runs, and
 * nothing is interrupted. Those that redlock was started to ignore (by nohup, or by a shell
 * for a job in the background) stay ignored.
 */
#ifndef CLI_SYSTEM_SIGNALS_H
#define CLI_SYSTEM_SIGNALS_H

#include <stdbool.h>

struct cli_loop;
struct event;

struct cli_signals {
    int fd;
    struct event *event;
    void (*on)(void *arg,
               int signo); /* told of each signal; NULL: it is dropped. To be changed at will */
    void *arg;
    bool typed;     /* while `on` is called: a key of the terminal has sent it (Ctrl-C, Ctrl-\) */
    int last_typed; /* the last one that a key has sent; 0: none has */
};

/* For the start of every command: a pipe that nobody reads is an error, not our death, and
 * a child's end is told, whatever we inherited. */
void cli_signals_init(void);

/* Take INT, TERM, HUP, QUIT, USR1, USR2, CHLD and CONT as events on the loop, to go before
 * all others. Returns CLI_OK, and cli_signals_stop() is to be called; or says what is
 * wrong and returns CLI_INTERNAL. */
int cli_signals_start(struct cli_signals *signals, const struct cli_loop *loop);

/* Stop listening. The signals stay blocked: what comes in the last moments of a command
 * does not change its end. NULL events are fine. */
void cli_signals_stop(struct cli_signals *signals);

/* After cli_signals_stop(), with the code to exit with: when that is for the signal which a key of
 * the terminal has sent, die of it, so that a shell ends the script that we are part of. */
void cli_signals_die(const struct cli_signals *signals, int code);

/* In a forked child: everything as redlock found it when it was started. */
void cli_signals_restore(void);

/* Whether a signal asks for an end: INT, TERM, HUP or QUIT. */
bool cli_signals_ends(int signo);

/* Whether a signal is meant for the command: one that ends, USR1 or USR2. */
bool cli_signals_pass(int signo);

/* "SIGTERM" for SIGTERM; never NULL. */
const char *cli_signals_name(int signo);

#endif
