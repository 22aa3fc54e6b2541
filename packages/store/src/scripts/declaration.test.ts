import { expect, test } from 'vitest'
import { declarationOf, localsOf, withLoops } from './declaration.ts'
import { includedBy } from './lua-files.ts'
import { withNames } from './lua-names.ts'

const HEAD = `-- @key base: of the shard
-- @arg removed_max: number, messages
-- @arg since: number?
-- @arg is_first: flag
-- @arg till: digits
-- @list handles
-- @item id: text
-- @item digest: text
-- @item renew: flag
`

const declared = (head = HEAD) => declarationOf('a-script-1', head)

test('keys and arguments become locals of their names and kinds', () => {
  expect(localsOf(declared())).toBe(
    'local base, removed_max, since, is_first, till = ' +
      "KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1', ARGV[4]\n",
  )
  expect(declared().args.map(({ member }) => member)).toEqual(['removedMax', 'since', 'isFirst', 'till'])
})

test('values behind the arguments begin at a position of their own', () => {
  expect(localsOf(declared('-- @key base\n-- @arg id: text\n-- @rest values: whatever\n'))).toBe(
    'local base, id, values_at = KEYS[1], ARGV[1], 2\n',
  )
})

test('a loop over a list takes its values by name, in any order', () => {
  expect(withLoops('a-script-1', 'for renew, id in handles() do use(id, renew) end', declared())).toBe(
    "for at__ = 5, #ARGV, 3 do local renew, id = ARGV[at__ + 2] == '1', ARGV[at__] use(id, renew) end",
  )
})

test.each([
  ['for name in handles() do end', 'handles has no name'],
  ['for id, nothing in handles() do end', 'handles has no nothing'],
])('%s is refused', (lua, message) => {
  expect(() => withLoops('a-script-1', lua, declared())).toThrow(message)
})

test.each([
  ['-- @key base\n-- @arg id: words', 'begins with none of'],
  ['-- @key base\n-- @item id: text', 'has no list before it'],
  ['-- @key base\n-- @list ids\n-- @item id: text\n-- @arg more: text', 'stands behind a list'],
])('%s is refused', (head, message) => {
  expect(() => declarationOf('a-script-1', head)).toThrow(message)
})

test('members of hashes and shared numbers are replaced by their values, and unknown ones are refused', () => {
  expect(withNames('a-script-1', "redis.call('HGET', key, LANE.slice)")).toBe("redis.call('HGET', key, 's')")
  expect(withNames('a-script-1', 'now + NUMBER.FULL_MS')).toBe('now + 250')
  expect(() => withNames('a-script-1', 'NUMBER.FULL')).toThrow('a-script-1: there is no NUMBER.FULL')
  const read =
    "local h = redis.call('HMGET', key, CLAIM_READ.all)\nreturn h[LANE_READ.rate], h[CLAIM_READ.hasDlq]"
  const members = "'s', 'r', 'p', 'g', 'x', 'f', 'm', 'a', 'gr', 'k', 'c', 'q'"
  expect(withNames('a-script-1', read)).toBe(
    `local h = redis.call('HMGET', key, ${members})\nreturn h[2], h[12]`,
  )
  expect(() => withNames('a-script-1', 'LANE_READ.hasDlq')).toThrow('there is no LANE_READ.hasDlq')
  expect(() => withNames('a-script-1', 'LANE.slcie')).toThrow('a-script-1: there is no LANE.slcie')
})

/** A reader of files that exist only in this test. */
const reader = (files: Record<string, string>) => (name: string) => files[name] ?? ''

test('an include that several files name is inserted once, behind what it includes itself', () => {
  const read = reader({ b: '-- @include c\nb\n', c: 'c\n', d: '-- @include c\nd\n' })
  expect(includedBy('-- @include b\n-- @include d\n-- @include c\na', read)).toEqual(['c\n', 'b\n', 'd\n'])
})

test('includes that go in a circle are refused', () => {
  const read = reader({ b: '-- @include c\n', c: '-- @include d\n', d: '-- @include b\n' })
  expect(() => includedBy('-- @include b\n', read)).toThrow('includes go in a circle: b → c → d → b')
})

test('an include that does not exist is refused', () => {
  expect(() => includedBy('-- @include no-such-file\n')).toThrow('there is no no-such-file.lua')
})
