/* identity.h - who we are, for people: the machine and the process. */
#ifndef CLI_SYSTEM_IDENTITY_H
#define CLI_SYSTEM_IDENTITY_H

/* The longest text, with its NUL. */
#define CLI_IDENTITY_TEXT 60

/* Write "host:pid", printable ASCII without spaces. Returns text. */
const char *cli_identity(char text[CLI_IDENTITY_TEXT]);

#endif
