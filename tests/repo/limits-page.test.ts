/** Checks that docs/limits.md has every tagged limit, and that no two constants for numbers have the same name. */
import { expect, test } from 'vitest'
import { bounds, renderLimits } from './limits-page.ts'
import { type Bound, holdersOf, wholeOf } from './memory-sums.ts'
import { filesMatching, textOf } from './repository.ts'

const all = bounds()
const inScripts = all.filter(({ path }) => path.endsWith('.lua'))
const inSources = all.filter(({ path }) => path.endsWith('.ts'))

/** Constants that bound something. */
const limits = all.filter(
  ({ name, limit }) =>
    /(^|_)(MAX|MIN|TIMEOUT_MS|SECONDS|LEASE_MS)(_|$)|_SHARE$/.test(name) || limit !== undefined,
)

test('the page of limits is what the code says (`npm run generate` writes it)', async () => {
  await expect(renderLimits()).toMatchFileSnapshot('../../docs/limits.md')
})

test('the page is short enough to be searched by eye', () => {
  expect(renderLimits().length).toBeLessThan(40_960)
})

test('a constant whose name bounds something has a comment of full sentences', () => {
  expect(limits.length).toBeGreaterThan(600)
  const undescribed = limits.filter(({ comment, limit = comment }) => !/^[A-Z`].{15,}\.$/.test(limit ?? ''))
  expect(undescribed.map(({ name, path }) => `${path}: ${name}`)).toEqual([])
})

test('a share of memory, and a bound of many bytes, is listed among the bounds of memory (`@limit memory`)', () => {
  const isOfMemory = ({ name, value, comment = '' }: Bound) =>
    /_SHARE$/.test(name) ? /memory|watermark/.test(comment) : /bytes/i.test(name) && value >= 16_777_216
  const untagged = limits.filter((bound) => isOfMemory(bound) && bound.memoryOf === undefined)
  expect(untagged.map(({ name, path }) => `${path}: ${name}`)).toEqual([])
})

const HOLDERS = new Set(['worker', 'API', 'redrive service', 'Redis', '`fantail move`', 'receiver of tests'])

test('each bound of memory names what holds the memory (`@limit memory (worker)`), or the bound around it', () => {
  const ofMemory = all.filter(({ memoryOf }) => memoryOf !== undefined)
  const names = new Set(ofMemory.map(({ name }) => name))
  const unknown = ofMemory.filter((bound) => {
    const whole = wholeOf(bound)
    return whole === undefined
      ? holdersOf(bound).some(({ holder }) => !HOLDERS.has(holder))
      : !names.has(whole)
  })
  expect(unknown.map(({ name, memoryOf }) => `${name}: ${memoryOf}`)).toEqual([])
})

test('a bound that each object of a class has counts once for each object that a process makes', () => {
  const api = filesMatching('services/publish-api/src/**/*.ts').filter(
    (path) => !/\.(test|fixture)\.ts$/.test(path),
  )
  const texts = api.map(textOf).join('\n')
  const caches = [...texts.matchAll(/class (\w+) extends FreshCache\b/g)].map(([, name]) => name)
  const made = caches.flatMap((name) => [...texts.matchAll(new RegExp(`new ${name}\\(`, 'g'))])
  const bound = all.find(({ name }) => name === 'RECORDS_BYTES_MAX')
  expect(bound && holdersOf(bound)).toMatchObject([{ holder: 'API', times: made.length }])
})

test('no two constants that are numbers share a name, in sources or in scripts', () => {
  const named = (group: Bound[]) => group.filter(({ name }) => /^[A-Z]/.test(name))
  const byName = [inSources, inScripts].flatMap((group) => [...Map.groupBy(named(group), ({ name }) => name)])
  const shared = byName.filter(([, bounds]) => bounds.length > 1)
  expect(shared.map(([name, bounds]) => [name, ...bounds.map(({ path }) => path)])).toEqual([])
})

/** A local statement with several names, of which one bounds something. */
const SHARED_LINE = /^local (?=[^=]*_(?:MAX|MIN)\b)[A-Z0-9_]+, /m

test('a bound of a script has its own line', () => {
  expect(filesMatching('packages/*/src/**/*.lua').filter((path) => SHARED_LINE.test(textOf(path)))).toEqual(
    [],
  )
})

test('a number that scripts name as the code does is the same number', () => {
  const values = new Map([...inScripts, ...inSources].map(({ name, value }) => [name, value]))
  expect(inScripts.filter(({ name, value }) => values.get(name) !== value)).toEqual([])
})
