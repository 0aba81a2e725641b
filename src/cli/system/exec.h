/* exec.h - a command: becoming it, why that failed, and what its end means for our exit code. */
#ifndef CLI_SYSTEM_EXEC_H
#define CLI_SYSTEM_EXEC_H

/* In a forked process: become the command (with execvp), with the signals as redlock found them.
 * Returns only when that fails: the errno. */
int cli_exec_become(char *const argv[]);

/* The code to exit with when it has failed so. */
int cli_exec_failed(const char *name, int error);

/* Say why a command could not be run. */
void cli_exec_explain(const char *name, int error);

/* The code to exit with for what waitpid() tells of a command that has ended. */
int cli_exec_code(int status);

#endif
