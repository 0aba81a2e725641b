/* test_report.cpp - a unit test in C++: a lock of redlock.hpp, on masters in the same process.
 *
 *     test_report-cpp
 */
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>

#include <redlock/redlock.hpp>
#include <redlock/testing.h>

/* Masters that end with their object. */
class test_masters
{
public:
    test_masters()
    {
        redlock_testing *made;

        if (redlock_testing_new(5, &made)) {
            throw std::runtime_error(redlock_testing_error_text());
        }
        masters_.reset(made);
    }

    redlock_testing *get() const
    {
        return masters_.get();
    }

    redlockpp::options options() const
    {
        redlockpp::options o;
        auto nodes = redlock_testing_nodes(get());

        o.nodes.assign(nodes, nodes + redlock_testing_node_count(get()));
        return o;
    }

private:
    struct ender {
        void operator()(redlock_testing *masters) const
        {
            redlock_testing_free(masters);
        }
    };

    std::unique_ptr<redlock_testing, ender> masters_;
};

static void expect(const char *what, bool is_right)
{
    if (!is_right) {
        throw std::runtime_error(what);
    }
}

static void releases_at_the_end_of_the_scope()
{
    test_masters masters;
    redlockpp::manager manager(masters.options());

    expect("it gets the lock", manager.try_lock("report").has_value());
    expect("it releases the lock",
           redlock_testing_count(masters.get(), REDLOCK_TESTING_RELEASED, "report") == 1);
}

static void gets_no_lock_that_somebody_else_has()
{
    test_masters masters;
    redlockpp::manager manager(masters.options());

    redlock_testing_hold(masters.get(), "report", "another machine", 0);
    expect("it gets no lock", !manager.try_lock("report"));
}

int main()
{
    try {
        releases_at_the_end_of_the_scope();
        gets_no_lock_that_somebody_else_has();
        std::puts("2 tests passed");
        return 0;
    } catch (const std::exception &e) {
        std::puts(e.what());
        return 1;
    }
}
