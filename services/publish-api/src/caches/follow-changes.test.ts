import { EventEmitter } from 'node:events'
import { WAKE_CHANGES } from '@fantail/store'
import { expect, test } from 'vitest'
import { type ChangeSubscriber, followChanges } from './fresh-cache.ts'

function follow() {
  const taken: (() => void)[] = []
  const subscribe = () => new Promise<void>((resolve) => taken.push(resolve))
  const subscriber = Object.assign(new EventEmitter(), { status: 'ready', subscribe })
  const known = new Set<string>()
  const cache = { forget: (id: string) => void known.delete(id), clear: () => known.clear() }
  followChanges(subscriber as unknown as ChangeSubscriber, [cache])
  /** Redis confirms the subscriptions. */
  const take = () => {
    for (const done of taken.splice(0)) done()
    return new Promise(setImmediate)
  }
  return { subscriber, known, take }
}

test('records that were cached before Redis took the subscription are dropped', async () => {
  const { known, take } = follow()
  known.add('looked up too early')
  await take()
  expect([...known]).toEqual([])
})

test('a changed record is dropped, and every record when the connection is back', async () => {
  const { subscriber, known, take } = follow()
  await take()
  known.add('a').add('b').add('c')
  subscriber.emit('message', WAKE_CHANGES, 'a')
  subscriber.emit('message', 'another channel', 'b')
  expect([...known]).toEqual(['b', 'c'])
  subscriber.emit('ready')
  expect([...known]).toEqual([])
})
