/* other.cpp - a shared object that hides what it defines, and makes an error code. */
#include <redlock/redlock.hpp>

[[gnu::visibility("default")]] std::error_code code_of_another_object();

std::error_code code_of_another_object()
{
    return redlockpp::errc::held;
}
