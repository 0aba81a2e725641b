/* doctor.h - redlock doctor: finds out whether the masters are fit for locks. */
#ifndef CLI_SHOW_DOCTOR_H
#define CLI_SHOW_DOCTOR_H

/* Run it: argv[0] is its name. Returns the code to exit with. */
int cli_doctor_main(int argc, char **argv);

#endif
