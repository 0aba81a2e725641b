/* lib/authority.c - keys on the curve P-256, which are made in no time. */
#include "lib/authority.h"

#include <check.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#include "lib/runner.h"

const char *authority_path(const char *file)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof(paths[0]), "%s/%s", rlk_test_folder(), file);
    return path;
}

void authority_write(const char *file, const char *text)
{
    FILE *out = fopen(authority_path(file), "w");

    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    ck_assert_int_eq(fclose(out), 0);
}

static EVP_PKEY *make_key(void)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
    EVP_PKEY *key = NULL;

    ck_assert_int_eq(EVP_PKEY_keygen_init(context), 1);
    ck_assert_int_eq(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1), 1);
    ck_assert_int_eq(EVP_PKEY_keygen(context, &key), 1);
    EVP_PKEY_CTX_free(context);
    return key;
}

static void add_extension(X509 *certificate, int kind, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, kind, value);

    ck_assert_ptr_nonnull(extension);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

static X509 *make_certificate(const struct authority_paper *paper, EVP_PKEY *key,
                              const struct authority *issuer)
{
    static long serial = 1;
    X509 *certificate = X509_new();
    X509_NAME *name = X509_get_subject_name(certificate);

    X509_set_version(certificate, 2); /* X.509v3 */
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate), paper->from_s);
    X509_gmtime_adj(X509_getm_notAfter(certificate), paper->till_s);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)paper->name, -1, -1,
                               0);
    X509_set_issuer_name(certificate, issuer ? X509_get_subject_name(issuer->certificate) : name);
    if (paper->others) {
        add_extension(certificate, NID_subject_alt_name, paper->others);
    }
    return certificate;
}

static void write_certificate(const char *name, X509 *certificate)
{
    char file[64];
    FILE *out;

    snprintf(file, sizeof(file), "%s.crt", name);
    out = fopen(authority_path(file), "w");
    ck_assert_ptr_nonnull(out);
    PEM_write_X509(out, certificate);
    ck_assert_int_eq(fclose(out), 0);
}

static void write_key(const char *name, EVP_PKEY *key)
{
    char file[64];
    FILE *out;

    snprintf(file, sizeof(file), "%s.key", name);
    out = fopen(authority_path(file), "w");
    ck_assert_ptr_nonnull(out);
    PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL);
    ck_assert_int_eq(fclose(out), 0);
}

void authority_init(struct authority *a, const char *name)
{
    const struct authority_paper paper = {.name = name, .from_s = -3600, .till_s = 3600};

    a->key = make_key();
    a->certificate = make_certificate(&paper, a->key, NULL);
    add_extension(a->certificate, NID_basic_constraints, "critical,CA:TRUE");
    ck_assert_int_gt(X509_sign(a->certificate, a->key, EVP_sha256()), 0);
    write_certificate(name, a->certificate);
}

void authority_end(struct authority *a)
{
    X509_free(a->certificate);
    EVP_PKEY_free(a->key);
}

void authority_sign(const struct authority *a, const struct authority_paper *paper)
{
    EVP_PKEY *key = make_key();
    X509 *certificate = make_certificate(paper, key, a);

    ck_assert_int_gt(X509_sign(certificate, a ? a->key : key, EVP_sha256()), 0);
    write_certificate(paper->name, certificate);
    write_key(paper->name, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
}
