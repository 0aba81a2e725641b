-- due.lua - whether a renewal has to set the counter of a key [S12].
--
-- A counter never falls. That of a lock that is held lives for a week after each renewal. It is not
-- set more often than that takes: each time the master tells all clients that observe it.

-- Not a counter that is no string: our keys are renewed all the same. A larger counter is that of a
-- lock that was adopted from us, or of a late vote. It lives for another week as well: if it ended
-- under our lock, the next lock might get its number again.
local function is_counter_due(key, fence)
    local counter = counter_of(key)
    if not counter or counter < fence then
        return counter
    elseif redis.call('PTTL', key .. ':redlock-fence') >= 604800000 then
        return false
    elseif counter > fence then
        redis.call('PEXPIRE', key .. ':redlock-fence', '691200000')
    end
    return counter == fence
end
