-- counters.lua - the counters of fencing tokens [S12].
--
-- A counter is a key of its own, named after the key that is locked. Its value is the largest fence
-- that this master knows. It expires eight days after it was set last.

-- A counter that is not there, or whose value is no number, is 0; one that is no string is nil.
local function counter_of(key)
    local value = redis.pcall('GET', key .. ':redlock-fence')
    if type(value) ~= 'table' then
        return tonumber(value) or 0
    elseif not string.find(value.err, 'WRONGTYPE', 1, true) then
        -- The same error, for the caller.
        return redis.call('GET', key .. ':redlock-fence')
    end
end

-- The fencing token is passed as text where possible: to make text from a number takes Redis as long
-- as half a command.
local function set_counter(key, fence)
    redis.call('SET', key .. ':redlock-fence', fence, 'PX', '691200000')
end
