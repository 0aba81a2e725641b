-- renewal.lua - which keys and counters a renewal has to change.
--
-- A script calls these functions before it writes anything. What they write themselves is right
-- whatever comes after them.

-- [S7] Returns the keys that are not there or end before ttl. A key that lives longer is never
-- shortened. A key with the value `free` counts as one that is not there [H2]; nil: no value does.
local function keys_that_end_before(ttl, free)
    local short = {}
    for _, key in ipairs(KEYS) do
        if redis.call('PTTL', key) < tonumber(ttl) or (free and redis.call('GET', key) == free) then
            short[#short + 1] = key
        end
    end
    return short
end

-- [S12] Returns the keys whose counter has to be set to the fencing token; none without a fencing
-- token (nil or '').
local function keys_with_counter_due(fence)
    local due = {}
    for _, key in ipairs(fence and fence ~= '' and KEYS or {}) do
        if is_counter_due(key, tonumber(fence)) then
            due[#due + 1] = key
        end
    end
    return due
end
