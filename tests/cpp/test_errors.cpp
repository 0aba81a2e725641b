/* test_errors.cpp - error codes, and the exception. */
#include <cstring>

#include "cpp/rig.hpp"
#include "lib/test.h"

SUITE("errors");

std::error_code code_of_another_object();

static const errc all[] = {
    errc::invalid_argument, errc::bad_state, errc::bad_uri,   errc::bad_ttl,
    errc::forked,           errc::limit,     errc::held,      errc::too_slow,
    errc::deadline,         errc::canceled,  errc::lost,      errc::suspended,
    errc::unrenewed,        errc::outranked, errc::no_quorum, errc::no_memory,
    errc::system,           errc::config};

TEST(each_code_has_the_text_of_its_status)
{
    for (errc one : all) {
        std::error_code ec = one;

        ck_assert(ec);
        ck_assert_ptr_eq(&ec.category(), &redlockpp::category());
        ck_assert(ec.message() == redlock_strerror(static_cast<int>(one)));
        ck_assert(ec.message() != redlock_strerror(-9999));
    }
    ck_assert_str_eq(redlockpp::category().name(), "redlock");
}

TEST(codes_equal_those_of_the_standard_that_say_the_same)
{
    static const struct {
        errc ours;
        std::errc standard;
    } same[] = {
        {errc::invalid_argument, std::errc::invalid_argument},
        {errc::bad_uri, std::errc::invalid_argument},
        {errc::bad_ttl, std::errc::invalid_argument},
        {errc::bad_state, std::errc::operation_not_permitted},
        {errc::forked, std::errc::operation_not_permitted},
        {errc::limit, std::errc::resource_unavailable_try_again},
        {errc::held, std::errc::device_or_resource_busy},
        {errc::deadline, std::errc::timed_out},
        {errc::canceled, std::errc::operation_canceled},
        {errc::no_memory, std::errc::not_enough_memory},
    };

    for (const auto &pair : same) {
        ck_assert(make_error_code(pair.ours) == pair.standard);
    }
    ck_assert(make_error_code(errc::no_quorum) != std::errc::timed_out);
    ck_assert(make_error_code(errc::lost) == errc::lost);
}

TEST(another_shared_object_has_the_same_category)
{
    ck_assert(code_of_another_object() == errc::held);
}

/* As that of a shared object that was loaded by dlopen(3) has: another object of the same name. */
TEST(codes_are_compared_by_the_name_of_their_category)
{
    const redlockpp::detail::error_category another{};
    const std::error_code theirs(REDLOCK_EHELD, another);
    const std::error_code foreign(REDLOCK_EHELD, std::generic_category());

    ck_assert(theirs == errc::held && errc::held == theirs);
    ck_assert(theirs != errc::lost && errc::lost != theirs);
    ck_assert(foreign != errc::held);
    ck_assert(theirs == std::errc::device_or_resource_busy);
}

static bool ends_with(const std::string &text, const std::string &end)
{
    return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

TEST(a_status_of_the_c_api_is_a_code)
{
    ck_assert(redlockpp::code(REDLOCK_EHELD) == errc::held);
    ck_assert(!redlockpp::code(REDLOCK_OK) && !redlockpp::code(REDLOCK_TAKEN));
}

/* Without a text, the exception says all that the code means. */
TEST(the_exception_says_the_text_and_what_the_code_means_in_short)
{
    const redlockpp::error with(errc::bad_state, "the lock is lost", std::error_code());
    const redlockpp::error copy = with;
    const redlockpp::error without(errc::canceled, "", std::error_code());

    ck_assert_str_eq(copy.what(), "the lock is lost: the object is not in a state that allows "
                                  "this call");
    ck_assert_str_eq(without.what(), redlock_strerror(REDLOCK_ECANCELED));
}

TEST(the_exception_says_what_is_wrong)
{
    rig r;
    redlockpp::request request("k");

    request.ttl = 1ms;
    try {
        (void)r.m.lock(request);
        ck_abort_msg("it was not thrown");
    } catch (const std::system_error &e) {
        ck_assert(e.code() == errc::bad_ttl);
        ck_assert_ptr_nonnull(std::strstr(e.what(), "ttl_ms"));
        ck_assert_msg(ends_with(e.what(), ": the ttl is out of range"), "%s", e.what());
        ck_assert(redlockpp::error_text().find("ttl_ms") != std::string::npos);
    }
}

TEST(a_manager_that_cannot_be_made_says_why)
{
    redlockpp::options o;
    std::error_code ec;

    o.nodes = {"redis://a", "http://b"};
    try {
        redlockpp::manager m(o);
        ck_abort_msg("it was not thrown");
    } catch (const redlockpp::error &e) {
        ck_assert(e.code() == errc::bad_uri);
        ck_assert_msg(std::strstr(e.what(), "redis://") != nullptr, "%s", e.what());
    }
    redlockpp::manager m(o, ec);
    ck_assert(ec == errc::bad_uri);
    ck_assert_ptr_null(m.native_handle());
}
