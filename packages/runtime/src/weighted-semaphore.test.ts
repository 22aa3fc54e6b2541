import { expect, test } from 'vitest'
import { WeightedSemaphore } from './weighted-semaphore.ts'

/** `holders` names those that have acquired the semaphore, in order. */
function useSemaphore(weightMax: number) {
  const semaphore = new WeightedSemaphore(weightMax)
  const holders: string[] = []
  const acquire = async (name: string, weight: number) => {
    await semaphore.acquire(weight)
    holders.push(name)
  }
  const release = async (weight: number) => {
    semaphore.release(weight)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { acquire, release, holders, semaphore }
}

test('no more acquire than the bound allows, and those that wait acquire in order', async () => {
  const { acquire, release, holders } = useSemaphore(10)
  for (const [name, weight] of [
    ['a', 4],
    ['b', 4],
    ['c', 4],
    ['d', 2],
    ['e', 2],
  ] as const)
    void acquire(name, weight)
  await release(0)
  expect(holders).toEqual(['a', 'b'])
  await release(4)
  expect(holders).toEqual(['a', 'b', 'c', 'd'])
  await release(4)
  expect(holders).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('a holder that weighs more than the bound acquires alone', async () => {
  const { acquire, release, holders, semaphore } = useSemaphore(10)
  expect(semaphore.acquire(50)).toBeUndefined()
  void acquire('light', 1)
  void acquire('heavy', 11)
  void acquire('late', 1)
  await release(50)
  expect(holders).toEqual(['light'])
  await release(1)
  expect(holders).toEqual(['light', 'heavy'])
  await release(11)
  expect(holders).toEqual(['light', 'heavy', 'late'])
})
