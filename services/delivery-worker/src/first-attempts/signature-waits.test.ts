import { expect, test } from 'vitest'
import { SignatureWaits } from './signature-waits.ts'

function createWaits() {
  const told: [string, string[]][] = []
  const waits = new SignatureWaits<string>({
    signed: (deliveries) => void told.push(['signed', deliveries]),
    failed: (deliveries) => void told.push(['failed', deliveries]),
  })
  return { waits, told }
}

test('deliveries go on together when the last of their signatures is there', async () => {
  const { waits, told } = createWaits()
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  waits.hold(['a', 'b'], [first.promise, second.promise])
  first.resolve()
  await first.promise
  expect(told).toEqual([])
  second.resolve()
  await second.promise
  await new Promise((resolve) => setImmediate(resolve))
  expect(told).toEqual([['signed', ['a', 'b']]])
})

test('one signature that cannot be had fails them all', async () => {
  const { waits, told } = createWaits()
  waits.hold(['a', 'b'], [Promise.resolve(), Promise.reject(new Error('no key'))])
  await new Promise((resolve) => setImmediate(resolve))
  expect(told).toEqual([['failed', ['a', 'b']]])
})

test('released entries are not reported any more', async () => {
  const { waits, told } = createWaits()
  const signature = Promise.withResolvers<void>()
  waits.hold(['a'], [signature.promise])
  waits.hold(['b', 'c'], [signature.promise])
  expect(waits.release()).toEqual(['a', 'b', 'c'])
  signature.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  expect([told, waits.release()]).toEqual([[], []])
})
