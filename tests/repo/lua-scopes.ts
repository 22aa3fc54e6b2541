/**
 * Finds the names that a piece of Lua declares, those that it uses but does not declare, long lists of names, and far
 * positions.
 */
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

/** The lists of more than `max` names that one statement or function of a piece of Lua declares, assigns or takes. */
export function longListsIn(lua: string, max: number): string[][] {
  const found: string[][] = []
  const see = (list: readonly luaparse.Expression[]) => {
    if (list.length > max) found.push(list.map((of) => ('name' in of ? String(of.name) : of.type)))
  }
  luaparse.parse(lua, {
    luaVersion: '5.1',
    comments: false,
    onCreateNode(node) {
      if (node.type === 'LocalStatement' || node.type === 'AssignmentStatement') see(node.variables)
      if (node.type === 'FunctionDeclaration') see(node.parameters)
    },
  })
  return found
}

/** The positions past `max` by which a piece of Lua reads values: in brackets, or from which it unpacks. */
export function farPositionsIn(lua: string, max: number): number[] {
  const found: number[] = []
  const see = (position: luaparse.Expression | undefined) => {
    if (position?.type === 'NumericLiteral' && position.value > max) found.push(position.value)
  }
  luaparse.parse(lua, {
    luaVersion: '5.1',
    comments: false,
    onCreateNode(node) {
      if (node.type === 'IndexExpression') see(node.index)
      const isUnpack = node.type === 'CallExpression' && 'name' in node.base && node.base.name === 'unpack'
      if (isUnpack) see(node.arguments[1])
    },
  })
  return found
}

function localsOf(statement: Chunk['body'][number]): string[] {
  if (statement.type === 'LocalStatement') return statement.variables.map(({ name }) => name)
  if (statement.type !== 'FunctionDeclaration' || !statement.isLocal) return []
  return statement.identifier?.type === 'Identifier' ? [statement.identifier.name] : []
}
