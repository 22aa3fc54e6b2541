/** docs/reliability.md tells of every fault what is promised, in the words of its test. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FAULTS } from '../harness/fault-rows.ts'

const document = readFileSync(new URL('../../docs/reliability.md', import.meta.url), 'utf8')

test.each(Object.values(FAULTS))('the table has: $fault', ({ fault, promised }) => {
  expect(document).toContain(`| ${fault} | ${promised} |`)
})
