/* signals.h - signals as events.
 *
 * The signals that matter are blocked and read from a signalfd: no handler ever runs, and no system
 * call is interrupted. Signals that redlock was started to ignore (by nohup, or by a shell for a
 * job in the background) stay ignored.
 */
#ifndef CLI_SYSTEM_SIGNALS_H
#define CLI_SYSTEM_SIGNALS_H

#include <stdbool.h>

struct cli_loop;
struct event;

struct cli_signals {
    int fd;
    struct event *event;
    void (*on)(void *arg, int signo); /* called for each signal; NULL: signals are dropped. May be
                                         changed at any time */
    void *arg;
    bool typed;     /* while `on` is called: a key of the terminal has sent it (Ctrl-C, Ctrl-\) */
    int last_typed; /* the last signal that a key has sent; 0: none */
    bool ignores_typed; /* such signals are dropped: they are for the program that started us */
};

/* Call this at the start of every command. SIGPIPE is ignored, so that a write to a closed pipe is
 * an error; SIGCHLD is not ignored, whatever was inherited. */
void cli_signals_init(void);

/* Receive INT, TERM, HUP, QUIT, USR1, USR2, CHLD and CONT as events on the loop, before all other
 * events. Returns CLI_OK, and the caller calls cli_signals_stop(); or says what is wrong and
 * returns CLI_INTERNAL. */
int cli_signals_start(struct cli_signals *signals, const struct cli_loop *loop);

/* Call `on` now for each signal that has come. */
void cli_signals_read(struct cli_signals *signals);

/* Run the loop until *done. A signal that asks for an end sets *done, too. Returns as
 * cli_loop_run(); or CLI_SIGNALED + the number of the first such signal. */
int cli_signals_run(struct cli_signals *signals, struct cli_loop *loop, bool *done);

/* Stop receiving signals. They stay blocked, so that a late signal does not change the exit status.
 * May be called when cli_signals_start() failed. */
void cli_signals_stop(struct cli_signals *signals);

/* Call this after cli_signals_stop(), with the code to exit with. If the code is that of a signal
 * which a key of the terminal has sent, die of this signal, so that a shell ends the script that
 * runs redlock. */
void cli_signals_die(const struct cli_signals *signals, int code);

/* In a forked child: restore the signal settings that redlock was started with. */
void cli_signals_restore(void);

/* Whether a signal asks for an end: INT, TERM, HUP or QUIT. */
bool cli_signals_ends(int signo);

/* Whether a signal is passed on to the command: one that asks for an end, USR1 or USR2. */
bool cli_signals_pass(int signo);

/* "SIGTERM" for SIGTERM; never NULL. */
const char *cli_signals_name(int signo);

#endif
