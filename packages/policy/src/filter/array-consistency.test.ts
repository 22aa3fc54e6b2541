/** Steps of the check are short. Elements that are new to the tree are counted, however deep they lie. */
import { expect, test } from 'vitest'
import { areConsistent, PlaceTree } from './array-consistency.ts'
import { filterSubject } from './filter-subject.ts'
import { STEPS_AT_ONCE } from './match-work.ts'

const LEAVES = 600
const DEPTH = 150

test('a step ends when it has added many elements, even for few values', () => {
  const nested = `${'['.repeat(DEPTH)}{"a":1,"b":2}${']'.repeat(DEPTH)}`
  const message = `{"r":[${Array(LEAVES).fill(nested).join(',')}]}`
  const subject = filterSubject({ message }, 'MessageBody')
  const tree = new PlaceTree()
  const grown: number[] = []
  let before = tree.arrayOf.length
  for (const _ of areConsistent([subject.leavesAt('r.a'), subject.leavesAt('r.b')], tree)) {
    grown.push(tree.arrayOf.length - before)
    before = tree.arrayOf.length
  }
  expect(before).toBeGreaterThan(LEAVES * DEPTH)
  expect(Math.max(...grown)).toBeLessThan(STEPS_AT_ONCE)
})
