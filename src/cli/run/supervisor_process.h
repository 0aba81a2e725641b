/* supervisor_process.h - the supervisor's process; see supervisor.h. */
#ifndef CLI_RUN_SUPERVISOR_PROCESS_H
#define CLI_RUN_SUPERVISOR_PROCESS_H

struct cli_board;

/* Start argv, and watch over it until redlock is gone. Never returns. */
void cli_supervisor_process_run(struct cli_board *board, int life_fd, int report_fd,
                                char *const argv[]) __attribute__((noreturn));

#endif
