import { expect, test } from 'vitest'
import { sideBySide } from './side-by-side.ts'

/** Work whose items end when the test says so. */
function openWork() {
  const ends = new Map<number, PromiseWithResolvers<string>>()
  const begun: number[] = []
  const work = (item: number) => {
    begun.push(item)
    const end = Promise.withResolvers<string>()
    ends.set(item, end)
    return end.promise
  }
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
  const end = async (item: number) => {
    ends.get(item)?.resolve(`result ${item}`)
    await nextTurn()
  }
  const fail = async (item: number) => {
    ends.get(item)?.reject(new Error(`failure ${item}`))
    await nextTurn()
  }
  return { work, begun, end, fail }
}

test('a bounded number of items is worked on at a time, and the results keep the order of the items', async () => {
  const { work, begun, end } = openWork()
  const results = sideBySide([1, 2, 3], 2, work)
  expect(begun).toEqual([1, 2])
  await end(2)
  expect(begun).toEqual([1, 2, 3])
  await end(3)
  await end(1)
  expect(await results).toEqual(['result 1', 'result 2', 'result 3'])
})

test('after a failure no item begins, and the first failure is thrown when all others have ended', async () => {
  const { work, begun, end, fail } = openWork()
  let thrown: unknown
  const over = sideBySide([1, 2, 3, 4], 3, work).catch((error: unknown) => {
    thrown = error
  })
  await fail(2)
  await fail(1)
  expect([begun, thrown]).toEqual([[1, 2, 3], undefined])
  await end(3)
  await over
  expect([begun, thrown]).toEqual([[1, 2, 3], new Error('failure 2')])
})
