/* keeper_process.h - the keeper's process; see keeper.h. */
#ifndef CLI_SANDBOX_KEEPER_PROCESS_H
#define CLI_SANDBOX_KEEPER_PROCESS_H

/* Make the folder, start n masters in it, keep them until redlock sandbox is gone, and remove
 * everything. Never returns. */
void cli_keeper_process_run(const char *program, int n, const char *folder, int life_fd,
                            int report_fd) __attribute__((noreturn));

#endif
