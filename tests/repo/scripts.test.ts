/** Checks that header, name, class and use of each Lua script agree. */
import { basename } from 'node:path'
import { readScript, SCRIPT_CLASSES, type ScriptName } from '@fantail/store'
import { expect, test } from 'vitest'
import { filesMatching, textOf } from './repository.ts'

const LUA = 'packages/store/src/**/lua'
const files = new Map(filesMatching(`${LUA}/*.lua`).map((path) => [basename(path, '.lua'), path]))
const scripts = [...files.keys()].toSorted()
const includes = filesMatching(`${LUA}/include/*.lua`).map((path) => basename(path, '.lua'))
const sources = filesMatching('packages/store/src/**/*.ts').filter((path) => !path.endsWith('.test.ts'))

const linesOf = (script: string) => textOf(files.get(script) ?? '').split('\n')

/** The comment that a script begins with. */
function headerOf(script: string): string {
  const lines = linesOf(script)
  return lines
    .slice(
      0,
      lines.findIndex((line) => !line.startsWith('--') || line.startsWith('-- @include')),
    )
    .join('\n')
}

test.each(scripts)('%s says what it takes and returns, and takes as many keys as its name says', (script) => {
  const { keys, lua } = readScript(script as ScriptName)
  for (const word of ['@key', 'Returns']) expect(headerOf(script)).toMatch(new RegExp(`^-- ${word}\\b`, 'm'))
  const used = [...lua.matchAll(/\bKEYS\[(\d+)\]/g)].map(([, number]) => Number(number))
  expect(Math.max(...used)).toBe(keys)
  expect(lua).not.toContain('@include')
})

test('every script is read once, by the code that runs it, and none is missing', () => {
  const read = sources.flatMap((path) =>
    [...textOf(path).matchAll(/readScript\('([^']+)'\)/g)].map(([, name]) => name),
  )
  expect(read.toSorted()).toEqual(scripts)
})

const WRITES =
  /redis\.call\('(SET|HSET|HSETNX|HINCRBY|HDEL|DEL|UNLINK|ZADD|ZREM|ZREMRANGEBYRANK|ZREMRANGEBYSCORE|SADD|SREM|RPUSH|LPUSH|LPOP|LREM|LTRIM|XADD|XTRIM|INCR|PEXPIRE|ZINCRBY|LSET)'/

test('every script has a class, and no class is of a script that is gone', () => {
  expect(Object.keys(SCRIPT_CLASSES).toSorted()).toEqual(scripts)
})

test.each(Object.entries(SCRIPT_CLASSES))('%s, which %s, begins as its class says', (script, kind) => {
  const lines = linesOf(script)
  const always = lines.findIndex((line) => line.startsWith('run_when_full('))
  const sometimes = lines.filter(
    (line) => /\brun_when_full\(/.test(line) && !line.startsWith('run_when_full('),
  )
  const firstWrite = lines.findIndex((line) => WRITES.test(line))
  switch (kind) {
    case 'reads':
      expect([always, sometimes, firstWrite]).toEqual([-1, [], -1])
      break
    case 'grows':
      expect(always).toBe(-1)
      for (const line of sometimes) expect(line).toMatch(/^if .* then run_when_full\(.*\) end$/)
      break
    default:
      expect(always).toBeGreaterThan(0)
      expect(sometimes).toEqual([])
      // Functions come before the statements that run, so only lines without indentation are compared.
      expect(lines.slice(0, always).some((line) => !line.startsWith(' ') && WRITES.test(line))).toBe(false)
  }
})

const NUMBER_OF_LUA = /^local ([A-Z][A-Z0-9_]*) = -?[\d.]+$/gm
const NUMBER_OF_SOURCE = /^(?:export )?const ([A-Z][A-Z0-9_]*) = -?[\d_.]+$/gm

test('no number stands under one name in a script and in TypeScript: both take it from lua-numbers.ts', () => {
  const namesIn = (paths: string[], number: RegExp) =>
    new Set(paths.flatMap((path) => [...textOf(path).matchAll(number)].map(([, name]) => name)))
  const inScripts = namesIn(filesMatching(`${LUA}/**/*.lua`), NUMBER_OF_LUA)
  const inSources = namesIn(filesMatching('{packages,services,tests}/**/*.ts'), NUMBER_OF_SOURCE)
  expect([inScripts.size, inSources.size].every((size) => size > 50)).toBe(true)
  expect([...inScripts].filter((name) => inSources.has(name))).toEqual([])
})

test('every include is used', () => {
  const used = filesMatching(`${LUA}/**/*.lua`).flatMap((path) =>
    [...textOf(path).matchAll(/^-- @include ([a-z-]+)$/gm)].map(([, name]) => name),
  )
  expect(includes.filter((name) => !used.includes(name))).toEqual([])
})

const EXPIRES = /P?EXPIRE'|'P?X'|'EX'|\.p?expire\(|psetex/
const OF_TESTS = /\.(test|fixture)\.ts$/

test('docs/time-travel.md says of each file that lets a key expire whether the key moves with the time', () => {
  const sources = ['packages/store/src', 'packages/jobs/src', 'services'].flatMap((folder) =>
    ['ts', 'lua'].flatMap((ending) => filesMatching(`${folder}/**/*.${ending}`)),
  )
  const isMove = (path: string) => path.startsWith('packages/store/src/travel/')
  const product = sources.filter((path) => !OF_TESTS.test(path) && !isMove(path))
  const expiring = product.filter((path) => EXPIRES.test(textOf(path))).map((path) => basename(path))
  expect(expiring.length).toBeGreaterThan(25)
  const page = textOf('docs/time-travel.md')
  expect(expiring.filter((file) => !page.includes(`\`${file}\``))).toEqual([])
})
