/* lib/authority.h - a CA of a test, and the certificates that it signs, as files in the folder of
 * the test. */
#ifndef RLK_TESTS_LIB_AUTHORITY_H
#define RLK_TESTS_LIB_AUTHORITY_H

#include <openssl/x509.h>

struct authority {
    EVP_PKEY *key;
    X509 *certificate; /* by itself */
};

/* What is in a certificate. */
struct authority_paper {
    const char *name;    /* of the subject */
    const char *others;  /* "DNS:a.example,IP:127.0.0.1"; NULL: the certificate has none */
    long from_s, till_s; /* when it is valid, seconds from now on */
};

/* Make a CA of this name; its certificate is NAME.crt. */
void authority_init(struct authority *a, const char *name);
void authority_end(struct authority *a);

/* Write NAME.crt and NAME.key; a NULL for the authority: signed by its own key. */
void authority_sign(const struct authority *a, const struct authority_paper *paper);

/* The path of a file in the folder of the test; static, one of the last eight. */
const char *authority_path(const char *file);

/* Write a text to a file there. */
void authority_write(const char *file, const char *text);

#endif
