-- counters.lua - the counters of fences [S12].
--
-- A counter is a key of its own, named after the key that is locked. Its value is the largest fence
-- that this master knows. It expires a week after it was set last.

-- A counter that is not there, or whose value is no number, is 0.
local function counter_of(key)
    return tonumber(redis.call('GET', key .. ':redlock-fence')) or 0
end

local function set_counters(keys, fence)
    for _, key in ipairs(keys) do
        redis.call('SET', key .. ':redlock-fence', fence, 'PX', 604800000)
    end
end
