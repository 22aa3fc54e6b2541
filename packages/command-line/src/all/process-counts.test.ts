import { expect, it } from 'vitest'
import { countsFor, opsPort } from './process-counts.ts'

it.each([
  [1, 1, 1],
  [2, 1, 1],
  [3, 1, 1],
  [4, 1, 2],
  [8, 2, 5],
  [16, 4, 11],
  [32, 8, 23],
])('%i cores run %i APIs and %i workers', (cores, apis, workers) => {
  expect(countsFor(cores, {})).toEqual({ apis, workers })
})

it('a given count leaves the other to the cores', () => {
  expect(countsFor(8, { workers: '3' })).toEqual({ apis: 2, workers: 3 })
  expect(countsFor(8, { apis: '1', workers: 'auto' })).toEqual({ apis: 1, workers: 5 })
})

it.each(['0', '100', '-1', '1.5', '', 'many'])('refuses %j workers', (workers) => {
  expect(() => countsFor(8, { workers })).toThrow('--workers takes auto or a whole number from 1 to 99')
})

it('each process has a port of its own, or any free one', () => {
  expect([opsPort(4100, 'worker', 1), opsPort(4100, 'api', 2), opsPort(0, 'api', 2)]).toEqual([4111, 4212, 0])
  expect(() => opsPort(65_500, 'worker', 99)).toThrow('worker 99 needs 65609')
})
