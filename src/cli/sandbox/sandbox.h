/* sandbox.h - redlock sandbox: runs a command with private masters. */
#ifndef CLI_SANDBOX_SANDBOX_H
#define CLI_SANDBOX_SANDBOX_H

/* Run it: argv[0] is its name. Returns the code to exit with. */
int cli_sandbox_main(int argc, char **argv);

#endif
