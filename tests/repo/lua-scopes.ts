/** Finds the names that a piece of Lua declares, and the names that it uses but does not declare. */
import luaparse from 'luaparse'

/** Names that Redis gives to every script. */
export const LUA_GLOBALS = new Set([
  ...['KEYS', 'ARGV', 'redis', 'cjson', 'cmsgpack', 'struct', 'string', 'table', 'math'],
  ...['tonumber', 'tostring', 'type', 'ipairs', 'pairs', 'next', 'unpack', 'select', 'pcall', 'error'],
])

interface LuaNames {
  /** Locals of the whole piece. */
  declared: string[]
  /** Names that neither this piece nor Lua declares, in the order of their first use. */
  free: string[]
}

type Chunk = luaparse.Chunk & { globals?: { name: string }[] }

/** Throws if it is no Lua. */
export function namesIn(lua: string): LuaNames {
  const chunk: Chunk = luaparse.parse(lua, { luaVersion: '5.1', scope: true, comments: false })
  return { declared: chunk.body.flatMap(localsOf), free: (chunk.globals ?? []).map(({ name }) => name) }
}

function localsOf(statement: Chunk['body'][number]): string[] {
  if (statement.type === 'LocalStatement') return statement.variables.map(({ name }) => name)
  if (statement.type !== 'FunctionDeclaration' || !statement.isLocal) return []
  return statement.identifier?.type === 'Identifier' ? [statement.identifier.name] : []
}
