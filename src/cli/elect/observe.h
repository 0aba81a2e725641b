/* observe.h - redlock elect --observe: prints who leads, a line for each change. */
#ifndef CLI_ELECT_OBSERVE_H
#define CLI_ELECT_OBSERVE_H

struct cli_plan;
struct cli_session;
struct cli_signals;

/* Print until a signal asks for the end. Returns the code to exit with. */
int cli_observe_run(const struct cli_plan *plan, struct cli_session *session,
                    struct cli_signals *signals);

#endif
