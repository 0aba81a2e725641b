-- waiting.lua - the wait queues: who waits for a key, and whom to wake.
--
-- The wait queue of a key is a sorted set beside it. Its members are channels, one for each
-- client that waits. A client is woken by a message on its channel: 't' and the key, "your turn",
-- or 'n' and the key, "you are next". When a key is handed over, all of them get 'h', for how many
-- milliseconds the key is reserved, a space, the reservation, a line end and the key.
--
-- The lists only tell whom to wake. No vote depends on them, so what goes wrong with them is
-- ignored here: every call is a pcall.

-- Returns whether somebody received it; nil when we must not publish.
local function tell(channel, what, key)
    local receivers = redis.pcall('PUBLISH', channel, what .. key)
    if type(receivers) == 'number' then
        return receivers > 0
    end
end

-- Whether a channel of a list comes after ours. The order is that of ZRANGE.
local function is_later(list, channel, ours, ticket)
    local score = tonumber(redis.pcall('ZSCORE', list, channel))
    return score > ticket or (score == ticket and channel > ours)
end

-- Wakes the first of the list and takes it out. Those that do not listen any more are taken out,
-- and the next one is tried; at most 32, because the server does nothing else meanwhile. Our
-- own channel is not woken, nor is anybody whose ticket is later than ours. Returns whether
-- somebody was woken.
local function wake(key, ours, ticket)
    local list = key .. waiting_suffix
    for _ = 1, 32 do
        local first = redis.pcall('ZRANGE', list, '0', '1')
        if not first[1] or first[1] == ours then
            return false
        end
        if ticket and is_later(list, first[1], ours, ticket) then
            return false
        end
        local received = tell(first[1], 't', key)
        if received == nil then
            return false
        end
        redis.pcall('ZREM', list, first[1])
        if received then
            if first[2] then
                tell(first[2], 'n', key)
            end
            return true
        end
    end
    return false
end

-- Takes a channel out of the list of a key, if it is in it ('' is in none). When the key is
-- free, the first of the list is woken. Otherwise, if the channel was the first, the one behind
-- it is next now. Returns whether somebody was woken.
local function leave(key, channel, is_free)
    local list = key .. waiting_suffix
    if is_free then
        redis.pcall('ZREM', list, channel)
        return wake(key)
    end
    local first = redis.pcall('ZRANGE', list, '0', '1')
    if first[1] then
        redis.pcall('ZREM', list, channel)
    end
    if first[1] == channel and first[2] then
        tell(first[2], 'n', key)
    end
    return false
end

-- Tells all clients that wait for a key which of them it is reserved for. We have only their
-- channels, so each has to find out whether it is meant. Returns whether somebody received it.
local function announce(key, life, reservation)
    local told = false
    for _, channel in ipairs(redis.pcall('ZRANGE', key .. waiting_suffix, '0', '-1')) do
        told = tell(channel, 'h' .. life .. ' ' .. reservation .. '\n', key) or told
    end
    return told
end
