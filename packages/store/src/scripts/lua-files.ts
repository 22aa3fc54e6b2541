/**
 * Finds the Lua files. Scripts are in the folder `lua/` next to their caller, includes in the `lua/include/` of any
 * folder. No two files have the same name. `-- @include now` in the head of a file inserts `now.lua` before it. An
 * include may include others. Each is inserted once, so a file names only the includes that it uses itself.
 */
import { LUA_TEXTS } from './lua-texts.ts'

type ReadLua = (name: string) => string

export function readLua(name: string): string {
  const text = LUA_TEXTS.get(name)
  if (text === undefined) throw new Error(`there is no ${name}.lua`)
  return text
}

const INCLUDE = /^-- @include ([a-z-]+)\n?/gm

function includesOf(lua: string): string[] {
  return [...lua.matchAll(INCLUDE)].map(([, name = '']) => name)
}

/** The texts of all files that a file includes. Each comes once, after its own includes. */
export function includedBy(lua: string, read: ReadLua = readLua): string[] {
  const texts = new Map<string, string>()
  const insert = (name: string, path: string[]) => {
    if (path.includes(name)) throw new Error(`includes go in a circle: ${[...path, name].join(' → ')}`)
    if (texts.has(name)) return
    const text = read(name)
    for (const other of includesOf(text)) insert(other, [...path, name])
    texts.set(name, text.replaceAll(INCLUDE, ''))
  }
  for (const name of includesOf(lua)) insert(name, [])
  return [...texts.values()]
}
