/**
 * Compares docs/aws-checklist.md with the tests. Every row of the checklist names the tests that show it, or is a
 * deviation with a reason. If a test's title has a number, the row of that number names the test.
 */
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { filesMatching, textOf } from './repository.ts'

const DOCUMENT = 'docs/aws-checklist.md'
const ASSERTIONS = 223
/** Rows of endpoint kinds other than http, https and sqs, of encryption and of archives. Their numbers have gaps. */
const KINDS = { first: 302, last: 420 }

interface Row {
  number: number
  assertion: string
  /** Names of files of tests. No two files share a name. */
  tests: string[]
  deviation: string | undefined
}

const rows = textOf(DOCUMENT)
  .split('\n')
  .map((line) => /^\| (\d+) \| (.+) \| (.+) \|$/.exec(line))
  .filter((match) => match !== null)
  .map(([, number, assertion, shown]): Row => {
    const deviation = /\*\*Deviation\*\*: (.+)$/.exec(shown ?? '')?.[1]
    const tests = [...(shown ?? '').matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file]) => file ?? '')
    return { number: Number(number), assertion: assertion ?? '', tests, deviation }
  })

/** For each number, the names of the files with a test whose title has it. */
function claims(): Map<number, Set<string>> {
  const claimed = new Map<number, Set<string>>()
  for (const file of ['packages', 'services', 'tests'].flatMap((root) =>
    filesMatching(`${root}/**/*.test.ts`),
  )) {
    for (const [, numbers] of textOf(file).matchAll(/['"`]((?:\[\d{1,3}\])+)[ '"`]/g)) {
      for (const [, number] of (numbers ?? '').matchAll(/\[(\d+)\]/g)) {
        const files = claimed.get(Number(number)) ?? new Set()
        claimed.set(Number(number), files.add(basename(file)))
      }
    }
  }
  return claimed
}

test('every assertion of the checklist has one row', () => {
  const numbers = rows.map(({ number }) => number)
  const first = numbers.slice(0, ASSERTIONS)
  expect(first).toEqual(Array.from({ length: ASSERTIONS }, (_, i) => i + 1))
  const ofKinds = numbers.slice(ASSERTIONS)
  expect(ofKinds).toEqual([...new Set(ofKinds)].sort((a, b) => a - b))
  expect(ofKinds.filter((number) => number < KINDS.first || number > KINDS.last)).toEqual([])
})

test('every row is shown by a test or is a deviation with its reason', () => {
  const open = rows.filter(({ tests, deviation }) => tests.length === 0 && (deviation ?? '').length < 20)
  expect(open.map(({ number, assertion }) => `${number} ${assertion}`)).toEqual([])
})

test('rows and the titles of tests agree', () => {
  const claimed = claims()
  const named = rows.map(({ number, tests }) => [number, [...tests].sort()])
  expect(named).toEqual(rows.map(({ number }) => [number, [...(claimed.get(number) ?? [])].sort()]))
  const known = new Set(rows.map(({ number }) => number))
  expect([...claimed.keys()].filter((number) => !known.has(number))).toEqual([])
})
