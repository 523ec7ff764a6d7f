-- Makes the gateway behave as HTTP (RFC 9110) and the JSON mapping of Protobuf require, where Envoy and its transcoder are more lenient.
--
-- Answers paths and methods that do not exist, OPTIONS, and bodies that are not JSON, before a body is read. HEAD becomes GET, and its
-- response loses its body.
--
-- Rejects request bodies that are not strict JSON, or have unknown or repeated fields. Envoy's transcoder would ignore such fields,
-- and a client with a misspelled option would get a game with the default. The transcoder still checks the values of fields.
--
-- Rejects queries that repeat a parameter, or name the game of the path: the transcoder would take the last value, so that a call
-- could reach another game than the one in its path.
--
-- Removes request headers that the service does not read. gRPC rejects some names, values and sizes that are valid in HTTP. Some
-- headers have another meaning in gRPC. The service does not use cookies.
--
-- Replaces the HTTP status of an error if its reason has a more precise one than its gRPC code, and adds the headers that its status
-- requires.
--
-- The gateway command generates these tables from the Protobuf descriptors and inserts them above this line. MESSAGES maps each message to
-- its fields: the Protobuf name of a field, the type of its value (a message, "bool", or false), and whether it is a list. BODIES maps the
-- paths of POST requests to the message of their body, without the fields of the path. METHODS maps paths to their methods. STATUSES maps
-- reasons to HTTP statuses.

local MAX_DEPTH = 64
local MAX_ITEMS = 1000 -- of a list; the service accepts fewer

local function reject(message, field)
  error({message = message, field = field}, 0)
end

local function invalid_json(at)
  reject("The body is not valid JSON: unexpected input at byte " .. at .. ".")
end

-- Sanitize a name from the request for use in an error.
local function sanitize(name)
  return (name:sub(1, 64):gsub("[^%w_.%-]", "?"))
end

-- Return the position of the first character after white space.
local function skip_space(text, at)
  return text:find("[^ \t\r\n]", at) or #text + 1
end

-- Return the position after a string, and the text between its quotes.
local function parse_string(text, at)
  local from = at + 1
  while true do
    local found = text:find('[%z\1-\31"\\]', from)
    local byte = found and text:byte(found)
    if byte == 34 then return found + 1, text:sub(at + 1, found - 1) end
    if byte ~= 92 then invalid_json(found or #text + 1) end
    local _, last = text:find('^["\\/bfnrt]', found + 1)
    if not last then _, last = text:find("^u%x%x%x%x", found + 1) end
    if not last then invalid_json(found) end
    from = last + 1
  end
end

-- Return the position after a number, true, false or null.
local function parse_scalar(text, at)
  for _, word in ipairs({"^true", "^false", "^null"}) do
    local _, last = text:find(word, at)
    if last then return last + 1 end
  end
  local _, last = text:find("^%-?0", at)
  if not last then _, last = text:find("^%-?[1-9]%d*", at) end
  if not last then invalid_json(at) end
  for _, more in ipairs({"^%.%d+", "^[eE][+-]?%d+"}) do
    local _, later = text:find(more, last + 1)
    last = later or last
  end
  return last + 1
end

-- Parse the name of a field and its colon. Return the position of its value, the type of the value, and the path to it.
local function parse_name(text, at, message, path, seen)
  if text:byte(at) ~= 34 then invalid_json(at) end
  local after, name = parse_string(text, at)
  -- Field names consist of letters, digits and underscores, so only these escapes can be part of one.
  name = name:gsub("\\u00(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end)
  local value_type, is_list = false, false
  if message then
    local field = MESSAGES[message][name]
    if not field then reject("There is no field " .. sanitize(name) .. " in " .. message .. ".", path .. sanitize(name)) end
    name, value_type, is_list = field[1], field[2], field[3]
  end
  if seen[name] then reject("The field " .. sanitize(name) .. " appears twice.", path .. sanitize(name)) end
  seen[name] = true
  after = skip_space(text, after)
  if text:byte(after) ~= 58 then invalid_json(after) end
  after = skip_space(text, after + 1)
  if is_list and not text:find("^%[", after) and not text:find("^null", after) then
    reject(path .. name .. " must be a list.", path .. name)
  end
  return after, value_type, path .. sanitize(name) .. "."
end

-- Check a value. Return the position after it.
local function parse_value(text, at, message, path, depth)
  at = skip_space(text, at)
  if depth > MAX_DEPTH then reject("The body must not be nested deeper than " .. MAX_DEPTH .. " levels.") end
  local byte = text:sub(at, at)
  if byte == '"' then
    if message == "bool" then
      local field = path:sub(1, -2)
      reject(field .. " must be true or false, without quotes.", field)
    end
    return (parse_string(text, at))
  end
  if byte ~= "[" and byte ~= "{" then return parse_scalar(text, at) end
  local close = byte == "[" and "]" or "}"
  at = skip_space(text, at + 1)
  if text:sub(at, at) == close then return at + 1 end
  local seen, items = {}, 0
  while true do
    items = items + 1
    if items > MAX_ITEMS then reject("A list must not have more than " .. MAX_ITEMS .. " items.") end
    local value_type, value_path = message, path
    if byte == "{" then
      at, value_type, value_path = parse_name(text, at, message, path, seen)
    elseif text:sub(at, at) == "[" then
      reject("A list must not contain a list.")
    elseif text:find("^null", at) then
      reject("A list must not contain null.")
    end
    at = skip_space(text, parse_value(text, at, value_type, value_path, depth + 1))
    local next = text:sub(at, at)
    if next == close then return at + 1 end
    if next ~= "," then invalid_json(at) end
    at = skip_space(text, at + 1)
  end
end

-- Reject a body that is not a message of this type.
local function check_body(text, message)
  local after = skip_space(text, parse_value(text, 1, message, "", 0))
  if after <= #text then invalid_json(after) end
end

local ALLOWED_HEADERS = {}
for name in ([[
  accept authorization content-length content-type origin te traceparent tracestate transfer-encoding user-agent x-api-key
  x-forwarded-for x-forwarded-proto x-game-id x-request-id
]]):gmatch("%S+") do ALLOWED_HEADERS[name] = true end

-- gRPC rejects headers above 8192 bytes, where each header counts 32 bytes more. Envoy adds headers, and the path a second time.
local MAX_HEADER_BYTES = 7168
local MAX_PATH_BYTES = 2048
local MAX_BODY_BYTES = 65536 -- the service accepts no larger message

-- Remove the headers that are not allowed. Return the size of the rest, as gRPC counts it.
local function filter_headers(headers)
  local dropped, size = {}, 0
  for name, value in pairs(headers) do
    if ALLOWED_HEADERS[name] or name:sub(1, 1) == ":" then
      size = size + #name + #value + 32
    else
      dropped[#dropped + 1] = name
    end
  end
  for _, name in ipairs(dropped) do headers:remove(name) end
  return size + #headers:get(":path")
end

local function body_text(body)
  return body and body:length() > 0 and body:getBytes(0, body:length()) or ""
end

-- Return the text of a name or value of a query.
local function decoded(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

-- Return a path in its usual form: without slashes at the end, and without escapes of characters that need none.
local function usual(path)
  local function unescaped(hex)
    local char = string.char(tonumber(hex, 16))
    return char:find("[%w._~-]") and char or nil
  end
  return (path:gsub("%%(%x%x)", unescaped):gsub("/+$", ""))
end

-- Reject a query that repeats a parameter, in either spelling, or names a field of the path.
local function check_query(query, path)
  local seen = {}
  if path:find("^/v1/games/") then seen.game_id = "is in the path" end
  for parameter in query:gmatch("[^&]+") do
    local name = decoded(parameter:match("^[^=]*"))
    local field = name:gsub("%u", function(letter) return "_" .. letter:lower() end)
    if seen[field] then reject("The parameter " .. sanitize(name) .. " " .. seen[field] .. ".", sanitize(field)) end
    if not parameter:find("=", 1, true) then reject("The parameter " .. sanitize(name) .. " must have a value.", sanitize(field)) end
    seen[field] = "appears twice"
  end
end

local function check_request(method, path, query, text)
  if method ~= "POST" then
    if text ~= "" then reject("This call must not have a body; pass its fields in the path and the query.") end
    check_query(query, path)
    return
  end
  for pattern, message in pairs(BODIES) do
    if path:find(pattern) then
      if query ~= "" then reject("This call must not have a query; pass its fields in the body.") end
      if text ~= "" then check_body(text, message) end
      return
    end
  end
end

-- Respond with a google.rpc.Status in JSON.
local function respond(handle, status, code, reason, message, details, headers)
  -- This metadata keeps local_reply_config from replacing the response.
  handle:streamInfo():dynamicMetadata():set("soda-fountain", "refused", true)
  headers = headers or {}
  headers[":status"], headers["content-type"] = status, "application/json"
  handle:respond(headers, string.format(
    '{"code":%d,"message":"%s","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"%s","domain":"%s","metadata":{}}%s]}',
    code, message, reason, DOMAIN, details or ""))
end

-- Return the methods of a path, as in the header Allow; nil if the path does not exist.
local function allowed_methods(path)
  for pattern, methods in pairs(METHODS) do
    if path:find(pattern) then return methods end
  end
end

-- Return whether a body can be JSON: other types and charsets cannot. `curl -d` calls every body a form.
local function is_json(content_type)
  if not content_type then return true end
  local kind, parameters = content_type:lower():match("^%s*([^;%s]*)%s*(.*)$")
  local charset = parameters:match("charset%s*=%s*\"?([^;%s\"]*)")
  return (kind == "application/json" or kind == "text/plain" or kind == "application/x-www-form-urlencoded")
    and (not charset or charset == "utf-8")
end

local function too_large(handle)
  respond(handle, "413", 8, "LIMIT", "The body has more than " .. MAX_BODY_BYTES .. " bytes; nothing was changed.")
end

-- Answer a request by its headers, if that is possible, and return whether it was.
local function answered(handle, headers, method, path, size)
  if headers:get(":authority"):find(",") then
    respond(handle, "400", 3, "MALFORMED", "The request has several Host headers.")
    return true
  end
  if size > MAX_PATH_BYTES then
    respond(handle, "414", 8, "LIMIT", "The path and query have more than " .. MAX_PATH_BYTES .. " bytes; nothing was changed.")
    return true
  end
  local methods = allowed_methods(path)
  if not methods then
    respond(handle, "404", 12, "UNIMPLEMENTED", "This path does not exist.")
    return true
  end
  if method == "OPTIONS" then
    handle:respond({[":status"] = "204", ["allow"] = methods}, "")
    return true
  end
  if not (", " .. methods .. ","):find(", " .. method .. ",", 1, true) then
    respond(handle, "405", 12, "UNIMPLEMENTED", "This path does not support this method.", nil, {["allow"] = methods})
    return true
  end
  local encoding = headers:get("content-encoding")
  if encoding and encoding:lower() ~= "identity" then
    respond(handle, "415", 3, "MALFORMED", "A body must not be compressed.", nil, {["accept-encoding"] = "identity"})
    return true
  end
  local length = headers:get("content-length")
  if length and tonumber(length) > MAX_BODY_BYTES then
    too_large(handle)
    return true
  end
  if method == "POST" and not is_json(headers:get("content-type")) then
    respond(handle, "415", 3, "MALFORMED", "The body must be JSON in UTF-8.", nil, {["accept"] = "application/json"})
    return true
  end
  return false
end

local function handle_request(handle)
  local headers = handle:headers()
  if (headers:get("content-type") or ""):lower():find("^application/grpc") then return end
  local method, target = headers:get(":method"), headers:get(":path") or "" -- CONNECT has no path
  local path, query = target:match("^([^?]*)%??(.*)$")
  path = usual(path)
  if answered(handle, headers, method, path, #target) then return end
  handle:streamInfo():dynamicMetadata():set("soda-fountain", "rest", true)
  if method == "HEAD" then
    handle:streamInfo():dynamicMetadata():set("soda-fountain", "head", true)
    headers:replace(":method", "GET")
  end
  if filter_headers(headers) > MAX_HEADER_BYTES then
    handle:respond({[":status"] = "431"}, "")
    return
  end
  local text = body_text(handle:body())
  if #text > MAX_BODY_BYTES then
    too_large(handle)
    return
  end
  local valid, problem = pcall(check_request, method, path, query, text)
  if valid then return end
  if type(problem) ~= "table" then error(problem, 0) end
  local violations
  if problem.field then
    violations = string.format(
      ',{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"%s","description":"%s"}]}',
      problem.field, problem.message)
  end
  respond(handle, "400", 3, "MALFORMED", problem.message, violations)
end

function envoy_on_request(handle)
  local completed, problem = pcall(handle_request, handle)
  if completed then return end
  handle:logErr("strict.lua: " .. tostring(problem)) -- Envoy itself would let the request pass
  respond(handle, "500", 13, "INTERNAL", "The gateway failed.")
end

-- Add the headers that the status of an error requires. The body is a google.rpc.Status in JSON from the transcoder. Quotes inside of
-- strings are escaped, so no other text can match.
local function complete_error(headers, text)
  local reason, domain = text:match('"reason":"([%u_]+)","domain":"([^"]+)"')
  if domain == DOMAIN and STATUSES[reason] then headers:replace(":status", STATUSES[reason]) end
  local status = headers:get(":status")
  if status == "401" then
    headers:replace("www-authenticate", reason == "API_KEY_INVALID" and "ApiKey" or "Bearer")
  elseif status == "429" or status == "503" then
    local seconds = tonumber(text:match('"retryDelay":"([%d.]+)s"')) or 1
    headers:replace("retry-after", tostring(math.max(math.ceil(seconds), 1)))
  end
end

function envoy_on_response(handle)
  local headers = handle:headers()
  local metadata = handle:streamInfo():dynamicMetadata():get("soda-fountain")
  if not metadata or not metadata.rest then return end
  local status = headers:get(":status")
  for _, name in ipairs({"grpc-accept-encoding", "grpc-message", "grpc-status"}) do headers:remove(name) end
  if status ~= "200" then
    local length = headers:get("content-length")
    local body = handle:body()
    headers = handle:headers() -- Envoy ends the life of the earlier object while it waits for the body
    complete_error(headers, body_text(body))
    if metadata.head and body then
      body:setBytes("")
      if length then headers:replace("content-length", length) end
    end
  elseif metadata.head then
    for chunk in handle:bodyChunks() do chunk:setBytes("") end
  end
end
