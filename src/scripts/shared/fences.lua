-- fences.lua - what a vote with a fencing token works out before it writes anything [S12].

-- Returns a number above the counters of all keys, at least the hint: as a number, and as the text
-- to set them to. Or nil and the error to answer: a counter has no number left, or is not a string.
local function next_fence(wanted)
    -- Cut to a whole second, so that masters whose clocks differ by ms answer the same number.
    -- 2^52, a clock of 2112, is half of all numbers: the other half is left to counters that grow by
    -- one, also where our user may not ask for the time.
    local hint = math.min(tonumber(wanted), 4503599627370495)
    local time = redis.pcall('TIME')
    if time[1] then
        hint = math.min(hint, (time[1] + 60) * 1000000)
    end
    local fence = hint
    for _, key in ipairs(KEYS) do
        local counter = counter_of(key)
        if not counter then
            return nil, redis.error_reply('FENCE the counter of the key is not a string: delete KEY:redlock-fence')
        elseif counter >= fence then
            fence = counter + 1
        end
    end
    -- 2^53: below this Lua counts exactly, and so does every client. No hint leads here.
    if fence >= 9007199254740992 then
        return nil, redis.error_reply('FENCE the counter has no numbers left: ' ..
            'delete KEY:redlock-fence when nothing remembers its fences')
    end
    return fence, fence == tonumber(wanted) and wanted or string.format('%.0f', fence)
end

-- [S11] Returns 1 when the value of a key begins as expected, or when nothing is expected; else 0.
local function begins_with(key, start)
    if start == '' then
        return 1
    end
    local value = redis.call('GET', key) or ''
    return string.sub(value, 1, #start) == start and 1 or 0
end
