"""The scripts that run atomically on the server.

The first write of CREATE and COMMIT is the log entry. A server that is full, is a replica, or has that version in the
log refuses it, and nothing has changed. Servers replicate the effects of a script, not the script, so a script may read
the clock.
"""

from hashlib import sha1
from typing import Final, NamedTuple


class Script(NamedTuple):
    """A Lua script, and the SHA-1 by which the server calls it once it is loaded."""

    source: str
    sha: str


def _script(body: str) -> Script:
    source = _PRELUDE + body
    return Script(source, sha1(source.encode()).hexdigest())  # noqa: S324  # the protocol's id of a script, not a secret


_PRELUDE: Final = """
local function record()
  return redis.call('HMGET', KEYS[1], 'v', 'head', 'snapshot', 'decisions', 'meta', 'expires_at')
end
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function append(version, nonce, seat, move, events)
  redis.call('XADD', KEYS[2], version .. '-1', 'n', nonce, 's', seat, 'm', move, 'e', events)
end
local function expire_at(moment)
  for i = 1, #KEYS do redis.call('PEXPIREAT', KEYS[i], moment) end
end
local function extend(stored_expiry, ttl)
  -- Never shortens the life of a game. A full server rejects the write, but the caller must get its reply: the expiry
  -- is then unchanged.
  local expires_at = string.format('%.0f', now() + ttl)
  if tonumber(stored_expiry) > tonumber(expires_at)
      or type(redis.pcall('HSET', KEYS[1], 'expires_at', expires_at)) == 'table' then
    return stored_expiry
  end
  return expires_at
end
local function confirm(known, payload, ttl)
  local colon = string.find(known, ':', 1, true)
  if string.sub(known, colon + 1) ~= payload then return {'REUSED'} end
  local stored = record()
  stored[6] = extend(stored[6], ttl)
  expire_at(stored[6])
  local id = string.sub(known, 1, colon - 1) .. '-1'
  return {'REPEAT', redis.call('XRANGE', KEYS[2], id, id), unpack(stored)}
end
local function notify(channel, head)
  -- A user without permission for the channel must not make a commit fail after some of its writes.
  redis.pcall('PUBLISH', channel, head)
end
"""

RESERVE: Final = _script("""
-- KEYS: reservation
-- ARGV: 1 game id, 2 ttl, 3 maximum remaining life of a provisional reservation
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] and redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return holder
end
if holder then
  -- A write that changes nothing: WAIT then covers the write of the first caller.
  redis.call('SET', KEYS[1], holder, 'KEEPTTL')
  return holder
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
""")

CANCEL: Final = _script("""
-- KEYS: reservation
-- ARGV: 1 game id, 2 maximum remaining life of a provisional reservation
if redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[2]) then
  redis.call('DEL', KEYS[1])
end
return 0
""")

CREATE: Final = _script("""
-- KEYS: game, log
-- ARGV: 1 format, 2 head, 3 snapshot, 4 decisions, 5 meta
--       6 version, 7 nonce, 8 seat, 9 move, 10 events, 11 ttl, 12 ttl of a tombstone
local stored = record()
if stored[2] then
  -- A write that changes nothing: WAIT then covers the write of the first caller.
  redis.call('PEXPIREAT', KEYS[1], stored[6])
  return {'EXISTS', unpack(stored)}
end
if stored[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[12])  -- a retrying caller must not outlive the tombstone
  return {'GONE'}
end
local expires_at = string.format('%.0f', now() + ARGV[11])
append(ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10])
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'head', ARGV[2], 'snapshot', ARGV[3],
  'decisions', ARGV[4], 'meta', ARGV[5], 'expires_at', expires_at)
expire_at(expires_at)
return {'OK', expires_at}
""")

COMMIT: Final = _script("""
-- KEYS: game, log, requests
-- ARGV: 1 format, 2 expected head, 3 new head, 4 snapshot, 5 decisions
--       6 version, 7 nonce, 8 seat, 9 move, 10 events
--       11 request, 12 payload, 13 ttl, 14 channel
local stored = redis.call('HMGET', KEYS[1], 'v', 'head')
if not stored[2] then return {'GONE'} end
if stored[1] ~= ARGV[1] then return {'FORMAT', stored[1]} end
local known = redis.call('HGET', KEYS[3], ARGV[11])
if known then return confirm(known, ARGV[12], ARGV[13]) end
if stored[2] ~= ARGV[2] then return {'STALE', unpack(record())} end
local expires_at = string.format('%.0f', now() + ARGV[13])
append(ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10])
redis.call('HSET', KEYS[1], 'head', ARGV[3], 'snapshot', ARGV[4], 'decisions', ARGV[5], 'expires_at', expires_at)
redis.call('HSET', KEYS[3], ARGV[11], ARGV[6] .. ':' .. ARGV[12])
expire_at(expires_at)
notify(ARGV[14], ARGV[3])
return {'OK', expires_at}
""")

CONFIRM: Final = _script("""
-- KEYS: game, log, requests
-- ARGV: 1 format, 2 request, 3 payload, 4 ttl
local stored = redis.call('HMGET', KEYS[1], 'v', 'head')
if not stored[2] then return {'GONE'} end
if stored[1] ~= ARGV[1] then return {'FORMAT', stored[1]} end
local known = redis.call('HGET', KEYS[3], ARGV[2])
if not known then return {'GONE'} end
return confirm(known, ARGV[3], ARGV[4])
""")

READ_FOR_REQUEST: Final = _script("""
-- KEYS: game, requests
-- ARGV: 1 request
local stored = record()
stored[#stored + 1] = redis.call('HGET', KEYS[2], ARGV[1])
return stored
""")

FOLLOW: Final = _script("""
-- KEYS: game, log, requests
-- ARGV: 1 head that the caller knows, 2 its version, 3 new ttl if that head is the newest, or '' to keep the ttl
local stored = record()
if not stored[2] then return {stored[1] and 'DELETED' or 'NONE'} end
if ARGV[3] ~= '' and stored[2] == ARGV[1] then
  local expires_at = extend(stored[6], ARGV[3])
  if expires_at ~= stored[6] then
    stored[6] = expires_at
    expire_at(expires_at)
  end
end
return {'OK', redis.call('XRANGE', KEYS[2], ARGV[2], '+'), unpack(stored)}
""")

DELETE: Final = _script("""
-- KEYS: game, log, requests
-- ARGV: 1 format, 2 ttl of the tombstone, 3 channel
local stored = redis.call('HMGET', KEYS[1], 'head', 'meta')
if not stored[1] then return false end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('HSET', KEYS[1], 'v', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
notify(ARGV[3], '')
return stored[2] or ''
""")

CLAIM: Final = _script("""
-- KEYS: live, created
-- ARGV: 1 game id, 2 maximum of live games or '', 3 maximum of games created in the window or '', 4 window
--       5 how long this claim is exempt from verification, 6 and 7 minimum and maximum time between verifications
--       8 how many games to return for verification; no other call receives these for the minimum time
--       then for each verified game: its id, the score it had, and when it expires or '' if it is over
local moment = now()
local function score(at) return string.format('%.0f', at) end
for i = 9, #ARGV, 3 do
  -- A different score shows a more recent claim or verification: this one is then outdated.
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[i + 1] then
    if ARGV[i + 2] == '' then
      redis.call('ZREM', KEYS[1], ARGV[i])
    else
      local at = math.min(math.max(tonumber(ARGV[i + 2]), moment + ARGV[6]), moment + ARGV[7])
      redis.call('ZADD', KEYS[1], score(at), ARGV[i])
    end
  end
end
if ARGV[3] ~= '' then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', score(moment - ARGV[4]))
  for _, game in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. score(moment), '+inf')) do
    redis.call('ZADD', KEYS[2], score(moment), game)  -- the clock was set back
  end
  if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[4]) then
    redis.call('PEXPIRE', KEYS[2], ARGV[4])  -- the configured window may be longer now
  end
  if not redis.call('ZSCORE', KEYS[2], ARGV[1]) and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
    local first = redis.call('ZRANGE', KEYS[2], -ARGV[3], -ARGV[3], 'WITHSCORES')
    return {'RATE_EXCEEDED', score(first[2] + ARGV[4] - moment)}
  end
end
if ARGV[2] ~= '' then
  local known = redis.call('ZSCORE', KEYS[1], ARGV[1])
  if not known and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
    local unverified = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', score(moment), 'LIMIT', 0, ARGV[8])
    -- A score this far ahead shows that the clock was set back.
    local ahead = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. score(moment + 2 * ARGV[7]), '+inf',
      'LIMIT', 0, ARGV[8] - #unverified)
    for _, game in ipairs(ahead) do unverified[#unverified + 1] = game end
    local again = score(moment + ARGV[6])
    for _, game in ipairs(unverified) do redis.call('ZADD', KEYS[1], again, game) end
    return {'LIVE_EXCEEDED', again, unverified}
  end
  -- An earlier call with a later deadline may still create it.
  local at = moment + ARGV[5]
  if known and tonumber(known) <= moment + 2 * ARGV[7] then at = math.max(at, tonumber(known)) end
  redis.call('ZADD', KEYS[1], score(at), ARGV[1])
end
if ARGV[3] ~= '' then
  -- Even if it was claimed before: it may be created only from now on.
  redis.call('ZADD', KEYS[2], score(moment), ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return {'OK'}
""")
