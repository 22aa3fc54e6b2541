import { expect, test } from 'vitest'
import { ByteBudget } from './byte-budget.ts'

/** Computations enter in order. `isIn` shows which ones have entered. */
function useBudget(bytesMax: number) {
  const budget = new ByteBudget(bytesMax)
  const isIn: string[] = []
  const enter = async (name: string, bytes: number) => {
    await budget.enter(bytes)
    isIn.push(name)
  }
  const leave = async (bytes: number) => {
    budget.leave(bytes)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { enter, leave, isIn, budget }
}

test('no more enter than there are bytes for, and those that wait enter in order', async () => {
  const { enter, leave, isIn } = useBudget(10)
  for (const [name, bytes] of [
    ['a', 4],
    ['b', 4],
    ['c', 4],
    ['d', 2],
    ['e', 2],
  ] as const)
    void enter(name, bytes)
  await leave(0)
  expect(isIn).toEqual(['a', 'b'])
  await leave(4)
  expect(isIn).toEqual(['a', 'b', 'c', 'd'])
  await leave(4)
  expect(isIn).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('a holder that needs more than there is enters alone', async () => {
  const { enter, leave, isIn, budget } = useBudget(10)
  expect(budget.enter(50)).toBeUndefined()
  void enter('small', 1)
  void enter('large', 11)
  void enter('late', 1)
  await leave(50)
  expect(isIn).toEqual(['small'])
  await leave(1)
  expect(isIn).toEqual(['small', 'large'])
  await leave(11)
  expect(isIn).toEqual(['small', 'large', 'late'])
})
