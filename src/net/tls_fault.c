/* tls_fault.c - what went wrong with a handshake, and what to do, in one sentence. */
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "net/tls_inside.h"
#include "net/uri.h"

/* OpenSSL adds this to the number of an alert that the server sent (RFC 8446, 6). */
#define ALERT 1000

/* ---- a certificate that is refused ---- */

static void format_time(const ASN1_TIME *time, char out[32])
{
    struct tm parts;

    if (time == NULL || !ASN1_TIME_to_tm(time, &parts) ||
        strftime(out, 32, "%Y-%m-%d %H:%M UTC", &parts) == 0) {
        snprintf(out, 32, "another time");
    }
}

/* Add one name to a list; what does not fit is left out. */
static void append(char *list, size_t size, const char *name, size_t len)
{
    size_t used = strlen(list);

    if (used + len + 3 < size && memchr(name, '\0', len) == NULL) {
        snprintf(list + used, size - used, "%s%.*s", used ? ", " : "", (int)len, name);
    }
}

static void append_address(char *list, size_t size, const ASN1_OCTET_STRING *address)
{
    char text[INET6_ADDRSTRLEN] = "";
    int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;

    if (family == AF_INET || ASN1_STRING_length(address) == 16) {
        inet_ntop(family, ASN1_STRING_get0_data(address), text, sizeof(text));
        append(list, size, text, strlen(text));
    }
}

static void append_alternatives(char *list, size_t size, const X509 *certificate)
{
    GENERAL_NAMES *all = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    int i;

    for (i = 0; i < sk_GENERAL_NAME_num(all); i++) {
        int type;
        const void *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all, i), &type);

        if (type == GEN_DNS) {
            append(list, size, (const char *)ASN1_STRING_get0_data(value),
                   (size_t)ASN1_STRING_length(value));
        } else if (type == GEN_IPADD) {
            append_address(list, size, value);
        }
    }
    GENERAL_NAMES_free(all);
}

static void append_common_name(char *list, size_t size, const X509_NAME *name)
{
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    const ASN1_STRING *text =
        at < 0 ? NULL : X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));

    if (text) {
        append(list, size, (const char *)ASN1_STRING_get0_data(text),
               (size_t)ASN1_STRING_length(text));
    }
}

/* A common name is no name of a server: it is text of any kind, in any form (RFC 9525, 2). */
static void explain_name(struct rlk_tls_session *s, const X509 *certificate)
{
    const char *wanted = rlk_tls_server_name(s->tls->uri);
    char names[92] = "";

    append_alternatives(names, sizeof(names), certificate);
    if (names[0]) {
        snprintf(s->why, sizeof(s->why),
                 "has a certificate for %s, not for %.60s; use a name of the certificate in the "
                 "URI, or as sni=",
                 names, wanted);
        return;
    }
    append_common_name(names, sizeof(names), X509_get_subject_name(certificate));
    snprintf(s->why, sizeof(s->why),
             "has a certificate without a name in its subjectAltName, and its CN '%.60s' does not "
             "count; make one with %s:%.60s there",
             names, rlk_tls_is_address(wanted) ? "IP" : "DNS", wanted);
}

static void explain_issuer(struct rlk_tls_session *s, const X509 *certificate)
{
    const char *own = s->tls->uri->cacert;
    char issuer[64] = "";

    append_common_name(issuer, sizeof(issuer), X509_get_issuer_name(certificate));
    if (own) {
        snprintf(s->why, sizeof(s->why),
                 "has a certificate by '%s', and cacert=%.66s has no CA of that name and key; give "
                 "the file with the CA that signed it",
                 issuer, own);
    } else {
        snprintf(s->why, sizeof(s->why),
                 "has a certificate by '%s', a CA that this system does not know; give the file "
                 "with that CA as cacert=",
                 issuer);
    }
}

static void explain_date(struct rlk_tls_session *s, const X509 *certificate, bool expired)
{
    char date[32];

    format_time(expired ? X509_get0_notAfter(certificate) : X509_get0_notBefore(certificate), date);
    snprintf(s->why, sizeof(s->why),
             expired ? "has a certificate that expired on %s; renew it, or set the clock of this "
                       "machine if that is wrong"
                     : "has a certificate that is valid only from %s on; set the clock of this "
                       "machine, or of the one that made the certificate",
             date);
}

int rlk_tls_on_verify(int good, X509_STORE_CTX *store)
{
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct rlk_tls_session *s = SSL_get_app_data(ssl);
    const X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    int error = X509_STORE_CTX_get_error(store);

    if (good || certificate == NULL) {
        return good;
    }
    switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        explain_name(s, certificate);
        break;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        explain_date(s, certificate, error == X509_V_ERR_CERT_HAS_EXPIRED);
        break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        explain_issuer(s, certificate);
        break;
    default:
        snprintf(s->why, sizeof(s->why), "has a certificate that is refused: %s; replace it",
                 X509_verify_cert_error_string(error));
    }
    return 0;
}

/* ---- everything else ---- */

static const char wants_certificate[] =
    "accepts only clients with a certificate; give ours as cert= and key=";
static const char refuses_certificate[] =
    "refused our certificate (%s); give one by a CA that it knows (its tls-ca-cert-file) as cert= "
    "and key=";
static const char expired[] = "refused our certificate (%s); renew the file of cert=, or set the "
                              "clock that is wrong, its or ours";
static const char too_old[] =
    "speaks no TLS of version 1.2 or newer; set tls-protocols \"TLSv1.2 TLSv1.3\" on it";

bool rlk_tls_explain_asked(struct rlk_tls_session *s)
{
    if (s->asked && !s->answered) {
        snprintf(s->why, sizeof(s->why), "%s", wants_certificate);
    }
    return s->asked && !s->answered;
}

static bool is_about_a_certificate(int alert)
{
    switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_DECRYPT_ERROR:
        return true;
    default:
        return false;
    }
}

static void explain_alert(struct rlk_tls_session *s, int alert, const char *text)
{
    bool ours = is_about_a_certificate(alert) && s->tls->uri->cert;

    if (alert == SSL_AD_PROTOCOL_VERSION) {
        snprintf(s->why, sizeof(s->why), "%s", too_old);
    } else if (ours && alert == SSL_AD_CERTIFICATE_EXPIRED) {
        snprintf(s->why, sizeof(s->why), expired, text);
    } else {
        snprintf(s->why, sizeof(s->why),
                 ours ? refuses_certificate
                      : "ended the TLS handshake (%s); see its log for the reason",
                 text);
    }
}

static void explain_reason(struct rlk_tls_session *s, int reason, const char *text)
{
    if (reason >= ALERT && reason < ALERT + 256) {
        explain_alert(s, reason - ALERT, text);
    } else if (reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_WRONG_SSL_VERSION) {
        snprintf(s->why, sizeof(s->why), "%s", too_old);
    } else {
        snprintf(s->why, sizeof(s->why),
                 "broke the TLS protocol (%s); check what is between us, and openssl s_client",
                 text);
    }
}

void rlk_tls_explain(struct rlk_tls_session *s)
{
    unsigned long error, last = 0;

    while ((error = ERR_get_error())) {
        s->no_memory |= ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
        last = error;
    }
    if (s->why[0] == '\0' && !rlk_tls_explain_asked(s)) {
        const char *text = last ? ERR_reason_error_string(last) : NULL;

        explain_reason(s, last ? ERR_GET_REASON(last) : 0, text ? text : "no reason");
    }
}
