-- fencing.lua - what a vote with a fencing token works out before it writes anything [S12].
--
-- ARGV[3] to ARGV[5] are the hint, the incarnation key and how that should begin, as vote.lua says.
-- Sets `fence`, a number above the counters of all keys, at least the hint; `text`, what to set
-- them to; and `same`, whether the incarnation key is as expected. The script ends here when a
-- counter has no number left, or is not a string.

-- Cut to a whole second, so that masters whose clocks differ by ms answer the same number.
-- 2^52, a clock of 2112, is half of all numbers: the other half is left to counters that grow by
-- one, also where our user may not ask for the time.
local hint = tonumber(ARGV[3])
local fence = math.min(hint, 4503599627370495)
local time = redis.pcall('TIME')
if time[1] then
    fence = math.min(fence, (time[1] + 60) * 1000000)
end
for i = 1, #KEYS do
    local counter = counter_of(KEYS[i])
    if not counter then
        return redis.error_reply('FENCE the counter of the key is not a string: delete KEY:redlock-fence')
    elseif counter >= fence then
        fence = counter + 1
    end
end
-- 2^53: below this Lua counts exactly, and so does every client. No hint reaches this.
if fence >= 9007199254740992 then
    return redis.error_reply('FENCE the counter has no numbers left: ' ..
        'delete KEY:redlock-fence when nothing remembers its fences')
end
-- Made from the number only where it must be: that takes Redis as long as half a command.
local text = fence == hint and ARGV[3] or string.format('%.0f', fence)
-- [S11]
local same = 1
if ARGV[5] ~= '' and string.sub(redis.call('GET', ARGV[4]) or '', 1, #ARGV[5]) ~= ARGV[5] then
    same = 0
end
