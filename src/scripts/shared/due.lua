-- due.lua - whether a renewal has to set the counter of a key [S12].
--
-- A counter never falls. That of a lock that is held lives for a week after each renewal. It is not
-- set more often than that takes: each time the master tells all clients that observe it.

-- Not a counter that is no string: our keys are renewed all the same.
local function is_counter_due(key, fence)
    local counter = counter_of(key)
    if counter ~= fence then
        return counter and counter < fence
    end
    return redis.call('PTTL', key .. ':redlock-fence') < 604800000
end
