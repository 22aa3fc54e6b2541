/** Checks that arguments of scripts have names, and that every name in a script is declared somewhere. */
import { basename } from 'node:path'
import { readScript, SCRIPT_CLASSES, type ScriptName } from '@fantail/store'
import { expect, test } from 'vitest'
import { farPositionsIn, LUA_GLOBALS, longListsIn, namesIn } from './lua-scopes.ts'
import { filesMatching, textOf } from './repository.ts'
import { renderScriptTypes } from './script-types.ts'

const scripts = Object.keys(SCRIPT_CLASSES).toSorted() as ScriptName[]
const files = new Map(
  filesMatching('packages/store/src/**/lua/**/*.lua').map((path) => [basename(path, '.lua'), textOf(path)]),
)

test('the types of what scripts take are what their heads declare', async () => {
  await expect(renderScriptTypes()).toMatchFileSnapshot(
    '../../packages/store/src/scripts/script-arguments.ts',
  )
})

/** Scripts contain names of tables of fields. They are replaced when a script is loaded. */
const TABLE = /^[A-Z][A-Z_]*$/

function includesOf(name: string): string[] {
  return [...(files.get(name) ?? '').matchAll(/^-- @include ([a-z-]+)$/gm)].map(([, include = '']) => include)
}

/** Names that a file uses but does not declare, without those of Redis. */
function takenBy(name: string): string[] {
  const { free } = namesIn(files.get(name) ?? '')
  return free.filter((taken) => !LUA_GLOBALS.has(taken))
}

function parametersOf(name: ScriptName): string[] {
  const { keys, args, list, rest } = readScript(name).declared
  const names = [...keys, ...args].map((parameter) => parameter.name)
  return [...names, ...(list ? [list.name] : []), ...(rest ? [`${rest.name}_at`] : [])]
}

const declares = (include: string) => namesIn(files.get(include) ?? '').declared

test.each([...files.keys()])('%s uses what it includes, and includes all that it uses', (name) => {
  const parameters = name in SCRIPT_CLASSES ? parametersOf(name as ScriptName) : []
  const included = includesOf(name)
  const taken = takenBy(name).filter((taken) => !parameters.includes(taken))
  const given = new Set(included.flatMap(declares))
  expect(taken.filter((taken) => !given.has(taken) && !TABLE.test(taken))).toEqual([])
  expect(included.filter((include) => !declares(include).some((own) => taken.includes(own)))).toEqual([])
})

test.each(scripts)('%s as it is loaded leaves no name open and declares none twice', (name) => {
  const { lua } = readScript(name)
  const { declared, free } = namesIn(lua)
  expect(free.filter((taken) => !LUA_GLOBALS.has(taken))).toEqual([])
  expect(declared.filter((own, i) => declared.indexOf(own) !== i)).toEqual([])
})

test.each(scripts)('%s uses what it declares', (name) => {
  const taken = namesIn(files.get(name) ?? '').free
  expect(parametersOf(name).filter((parameter) => !taken.includes(parameter))).toEqual([])
  expect(taken).not.toContain('KEYS')
  if (!readScript(name).declared.rest) expect(taken).not.toContain('ARGV')
})

/**
 * Past it: nobody sees which value is which. The values then take names (lua-names.ts) or become members of a table.
 * Loops over a script's list are not counted, because they take its values by name (declaration.ts).
 */
const NAMES_MAX = 8

test('a longer list of names is found in locals, assignments and parameters', () => {
  const names = 'a, b, c, d, e, f, g, h'
  const pieces = (list: string) => [
    `local ${list} = unpack(ARGV)`,
    `${list} = unpack(ARGV)`,
    `local function take(${list}) end`,
    `scan(function(${list}) end)`,
  ]
  expect(pieces(names).flatMap((lua) => longListsIn(lua, NAMES_MAX))).toEqual([])
  expect(pieces(`${names}, i`).map((lua) => longListsIn(lua, NAMES_MAX).length)).toEqual([1, 1, 1, 1])
})

test('a value that is read by a position above eight is found', () => {
  const pieces = ['return h[9]', 'h[10] = secret', 'return { h[12] or "" }', 'local a = unpack(h, 9)']
  expect(pieces.map((lua) => farPositionsIn(lua, NAMES_MAX))).toEqual([[9], [10], [12], [9]])
  expect(farPositionsIn('return h[8], h[at + 9], h[LANE_READ.slice]', NAMES_MAX)).toEqual([])
})

test.each([...files])('%s unpacks, takes or reads at most eight values by their order', (_name, lua) => {
  expect([longListsIn(lua, NAMES_MAX), farPositionsIn(lua, NAMES_MAX)]).toEqual([[], []])
})
