-- renewal.lua - which keys and counters a renewal has to change.
--
-- A script calls these functions before it writes anything.

-- [S7] Returns the keys that are not there or end before ttl. A key that lives longer is never
-- shortened.
local function keys_that_end_before(ttl)
    local short = {}
    for _, key in ipairs(KEYS) do
        if redis.call('PTTL', key) < tonumber(ttl) then
            short[#short + 1] = key
        end
    end
    return short
end

-- [S12] Returns the keys whose counter is at most the fencing token; none without a fencing token
-- (nil). A counter never falls, and an equal one is set again so that it lives for another week. A
-- counter that is not a string is left alone: our keys are renewed all the same.
local function keys_with_counter_up_to(fence)
    local low = {}
    for _, key in ipairs(fence and KEYS or {}) do
        local counter = counter_of(key)
        if counter and counter <= tonumber(fence) then
            low[#low + 1] = key
        end
    end
    return low
end
