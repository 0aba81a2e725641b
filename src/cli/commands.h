/* commands.h - the commands. Each reads its own arguments (argv[0] is its name) and
 * returns the code to exit with.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int cli_lock_main(int argc, char **argv);
int cli_acquire_main(int argc, char **argv);
int cli_extend_main(int argc, char **argv);
int cli_release_main(int argc, char **argv);
int cli_status_main(int argc, char **argv);
int cli_nodes_main(int argc, char **argv);
int cli_doctor_main(int argc, char **argv);
int cli_sandbox_main(int argc, char **argv);

#endif
