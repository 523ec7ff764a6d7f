"""The scripts that run atomically on the server.

A server that is full, or is a replica, refuses the first write of a script, and nothing has changed; it does not refuse
later ones. Servers replicate the effects of a script, not the script, so a script may read the clock.
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
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
"""

_GAME: Final = """
local LAYOUT = '1'
local function unpacked(text)
  local fields = {}
  for field in string.gmatch(text, '%S+') do fields[#fields + 1] = field end
  return fields
end
-- Returns the game's head, or nil and the reply to send: there is no game, or its layout is unknown.
local function load()
  local text = redis.call('LINDEX', KEYS[1], 0)
  if not text then return nil, {'NONE'} end
  local fields = unpacked(text)
  if fields[1] ~= LAYOUT then return nil, {'LAYOUT', fields[1]} end
  if fields[2] == 'deleted' then return nil, {'DELETED'} end
  return {
    text = text, head = fields[2], version = tonumber(string.match(fields[2], '^%d+')),
    created = fields[3], expires = fields[5], archived = tonumber(fields[6]),
  }
end
local function record(game)
  return game.text, redis.call('LINDEX', KEYS[1], 1), redis.call('LINDEX', KEYS[1], 2)
end
-- The element of the log that holds a version.
local function position(game, version)
  if game.archived == 0 then return 3 + version end
  return 4 + math.max(0, version - game.archived)
end
local function log(game, first, count)
  if first > game.version or count < 1 then return {} end
  local last = math.min(game.version, first + count - 1)
  return redis.call('LRANGE', KEYS[1], position(game, first), position(game, last))
end
local function timed(moment, value)
  return struct.pack('>I6', moment) .. value
end
local function packed(head, created, updated, expires, archived)
  return string.format('%s %s %s %.0f %.0f %.0f', LAYOUT, head, created, updated, expires, archived)
end
-- Returns the version that a request committed, or nil; and whether the hashes of requests are damaged.
local function version_of(game, request)
  local requests = redis.call('LINDEX', KEYS[1], 3) or ''
  if game.version == 1 then return nil, requests ~= '' end
  local size = #requests / (game.version - 1)
  if size < 1 or size % 1 ~= 0 then return nil, true end
  local wanted, start = string.sub(request, 1, size), 1
  while true do
    local found = string.find(requests, wanted, start, true)
    if not found then return nil end
    if (found - 1) % size == 0 then return (found - 1) / size + 2 end
    start = found + 1
  end
end
local function confirm(game, version)
  -- A write that changes nothing: WAIT then covers the write of the first caller.
  redis.call('PEXPIREAT', KEYS[1], game.expires)
  return {'REPEAT', version, log(game, version, 1), record(game)}
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

CREATE: Final = _script(
    _GAME
    + """
-- KEYS: game
-- ARGV: 1 head, 2 meta, 3 state, 4 log entry, 5 ttl, 6 ttl of a tombstone
local game, reply = load()
if game then
  -- A write that changes nothing: WAIT then covers the write of the first caller.
  redis.call('PEXPIREAT', KEYS[1], game.expires)
  return {'EXISTS', record(game)}
end
if reply[1] == 'DELETED' then
  redis.call('PEXPIRE', KEYS[1], ARGV[6])  -- a retrying caller must not outlive the tombstone
end
if reply[1] ~= 'NONE' then return reply end
local moment = now()
local created = string.format('%.0f', moment)
local head = packed(ARGV[1], created, moment, moment + ARGV[5], 0)
redis.call('RPUSH', KEYS[1], head, ARGV[2], ARGV[3], '', timed(moment, ARGV[4]))
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', moment + ARGV[5]))
return {'OK', head}
"""
)

COMMIT: Final = _script(
    _GAME
    + """
-- KEYS: game
-- ARGV: 1 expected head, 2 new head, 3 state, 4 log entry, 5 hash of the request, 6 ttl, 7 channel
--       8 an archive of every version including this one, and 9 hashes of all requests; or both empty
local game, reply = load()
if not game then return reply end
local known, damaged = version_of(game, ARGV[5])
if known then return confirm(game, known) end
if game.head ~= ARGV[1] then return {'STALE', record(game)} end
if damaged or redis.call('LLEN', KEYS[1]) ~= position(game, game.version) + 1 then return {'DAMAGED'} end
local moment = now()
if ARGV[8] == '' then
  redis.call('RPUSH', KEYS[1], timed(moment, ARGV[4]))
  local requests = redis.call('LINDEX', KEYS[1], 3)
  local size = game.version == 1 and #ARGV[5] or #requests / (game.version - 1)
  redis.call('LSET', KEYS[1], 3, requests .. string.sub(ARGV[5], 1, size))
else
  redis.call('LSET', KEYS[1], 4, timed(moment, ARGV[8]))
  redis.call('LTRIM', KEYS[1], 0, 4)
  redis.call('LSET', KEYS[1], 3, ARGV[9])
  game.archived = game.version + 1
end
redis.call('LSET', KEYS[1], 2, ARGV[3])
local head = packed(ARGV[2], game.created, moment, moment + ARGV[6], game.archived)
redis.call('LSET', KEYS[1], 0, head)
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', moment + ARGV[6]))
notify(ARGV[7], ARGV[2])
return {'OK', head}
"""
)

CONFIRM: Final = _script(
    _GAME
    + """
-- KEYS: game
-- ARGV: 1 hash of the request
local game, reply = load()
if not game then return reply end
local known, damaged = version_of(game, ARGV[1])
if damaged then return {'DAMAGED'} end
if not known then return {'NONE'} end
return confirm(game, known)
"""
)

READ_LOG: Final = _script(
    _GAME
    + """
-- KEYS: game
-- ARGV: 1 first version, 2 maximum number of versions
local game, reply = load()
if not game then return reply end
return {'OK', log(game, tonumber(ARGV[1]), tonumber(ARGV[2])), record(game)}
"""
)

DELETE: Final = _script(
    _GAME
    + """
-- KEYS: game
-- ARGV: 1 ttl of the tombstone, 2 channel
local game, reply = load()
if not game then
  if reply[1] == 'DELETED' then
    -- A write that changes nothing: WAIT then covers the deletion.
    redis.call('PEXPIREAT', KEYS[1], redis.call('PEXPIRETIME', KEYS[1]))
  end
  return reply
end
local meta = redis.call('LINDEX', KEYS[1], 1)
redis.call('DEL', KEYS[1])
redis.call('RPUSH', KEYS[1], LAYOUT .. ' deleted')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
notify(ARGV[2], '')
return {'OK', meta}
"""
)

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

ACTIVE_FORMAT: Final = _script("""
-- KEYS: format
-- ARGV: 1 initial format
local active = redis.call('GET', KEYS[1])
if not active then
  redis.call('SET', KEYS[1], ARGV[1])
  return ARGV[1]
end
return active
""")

RAISE_FORMAT: Final = _script("""
-- KEYS: format
-- ARGV: 1 the format that it must be, 2 the new format
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
""")
