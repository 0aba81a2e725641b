-- wait.lua - enter the waiting list of a key, or learn that it is our turn.
--
-- KEYS     the keys of the lock, 1 to 16
-- ARGV[1]  our channel
-- ARGV[2]  our place: 'last'; 'first', when we were woken and did not get the lock; or 'yield', when
--          we have just released it: last, and it is not our turn in any case
-- ARGV[3]  how long the list lives after this call, in milliseconds
--
-- Answers  {0, -2, ''}          it is our turn: the keys are free, and nobody is before us
--          {place, left, value}  we are in the list of a key, at this place, from 1
--          {-1, left, value}     that list is full, and we are not in it
--          -ERR                  the list cannot be written (WRONGTYPE, OOM, no right to do it)
--
-- We are in one list: that of the first key with a value. When all keys are free and somebody else
-- is before us, that one is woken, and we stay in that list. A channel that is in the list already
-- keeps its place. `left` is the ttl of the key in milliseconds: -1 when it has none, -2 when it is
-- free. `value` is its value: '' when it is free, or no string.
-- Uses: effects, waiting

local ours, how = ARGV[1], ARGV[2]
local wake, leave = waiting(waiting_suffix)

-- Returns the key whose list we enter, and its value; nil when it is our turn.
local function find_key()
    for _, key in ipairs(KEYS) do
        local value = redis.pcall('GET', key)
        if value then
            return key, value
        end
    end
    if how == 'yield' then
        return KEYS[1]
    end
    for _, key in ipairs(KEYS) do
        if wake(key, ours) then
            return key
        end
    end
end

-- Returns the place, or -1 when the list is full.
local function enter(list)
    local place = redis.call('ZRANK', list, ours)
    if place then
        return place + 1
    end
    local length = redis.call('ZCARD', list)
    if length >= 1024 then
        return -1
    end
    local at = how == 'first' and 0 or -1
    local neighbour = redis.call('ZRANGE', list, at, at, 'WITHSCORES')
    local step = how == 'first' and -1 or 1
    redis.call('ZADD', list, (neighbour[2] or 0) + step, ours)
    return how == 'first' and 1 or length + 1
end

local wanted, value = find_key()
for _, key in ipairs(how == 'yield' and {} or KEYS) do
    if key ~= wanted then
        leave(key, ours, wanted and not redis.pcall('GET', key))
    end
end
if not wanted then
    return {0, -2, ''}
end
local list = wanted .. waiting_suffix
local place = enter(list)
if place > 0 then
    redis.call('PEXPIRE', list, ARGV[3])
end
return {place, redis.call('PTTL', wanted), type(value) == 'string' and value or ''}
