import { expect, test } from 'vitest'
import { FreedCapacity } from './freed-capacity.ts'

test('every part that waits is notified, in the order in which they were named', () => {
  const freed = new FreedCapacity()
  const notified: string[] = []
  const part = (name: string) => ({ capacityFreed: () => void notified.push(name) })
  freed.announce()
  freed.notify(part('first'), part('second'))
  freed.announce()
  freed.announce()
  expect(notified).toEqual(['first', 'second', 'first', 'second'])
})
