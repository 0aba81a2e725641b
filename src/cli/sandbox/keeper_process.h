/* keeper_process.h - what runs in the keeper's process; see keeper.h. */
#ifndef CLI_SANDBOX_KEEPER_PROCESS_H
#define CLI_SANDBOX_KEEPER_PROCESS_H

/* Start n masters in a folder that is not there yet, keep them until redlock sandbox is gone, and
 * take everything away. Never returns. */
void cli_keeper_process_run(const char *program, int n, const char *folder, int life_fd,
                            int report_fd) __attribute__((noreturn));

#endif
