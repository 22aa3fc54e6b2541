/** docs/reliability.md states the promises of each fault with the words of its test. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FAULTS, type FaultName } from '../harness/ledgers/fault-rows.ts'

/** Rows that only the long form has. */
const LONG_ONLY = new Set<FaultName>(['redis-outage-30', 'redis-outage-120'])
const document = readFileSync(new URL('../../docs/reliability.md', import.meta.url), 'utf8')
const inShort = (Object.keys(FAULTS) as FaultName[]).filter((name) => !LONG_ONLY.has(name))

test.each(inShort)('the table has: %s', (name) => {
  const { fault, promised } = FAULTS[name]
  expect(document).toContain(`| ${fault} | ${promised} |`)
})
