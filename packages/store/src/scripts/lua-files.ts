/**
 * Finds the Lua files. Scripts are in the folder `lua/` next to their caller, includes in the `lua/include/` of any
 * folder. No two files have the same name. `-- @include now` in the head of a file inserts `now.lua` before it. An
 * include may include others. Each is inserted once, so a file names only the includes that it uses itself.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The Lua files are in `src`, also when this runs from `dist/`. */
const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url))

/** Name → path. */
const LUA_FILES = new Map(
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua'))
    .map((path) => [basename(path, '.lua'), join(SOURCES, path)]),
)

type ReadLua = (name: string) => string

export function readLua(name: string): string {
  const path = LUA_FILES.get(name)
  if (path === undefined) throw new Error(`there is no ${name}.lua`)
  return readFileSync(path, 'utf8')
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
