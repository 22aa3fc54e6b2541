import { expect, test } from 'vitest'
import { RepeatedErrors } from './repeated-errors.ts'

const refused = new Error('connect ECONNREFUSED 10.0.0.1:6379')
const closed = new Error('Connection is closed.')

test('errors in turns are new once each, with any numbers', () => {
  const errors = new RepeatedErrors()
  const elsewhere = new Error('connect ECONNREFUSED 10.0.0.2:6380')
  const seen = [refused, closed, elsewhere, closed, refused]
  expect(seen.map((error) => errors.isNew(error))).toEqual([true, true, false, false, false])
})

test('a continuing error is not new again, one that was away for a minute is', () => {
  let now = 0
  const errors = new RepeatedErrors(() => now)
  const at = (time: number) => {
    now = time
    return errors.isNew(refused)
  }
  expect([0, 40_000, 80_000, 120_000, 180_000].map(at)).toEqual([true, false, false, false, true])
})

test('the numbers of jobs and parts make no new kind', () => {
  const errors = new RepeatedErrors()
  const ids = ['7', '12', '12-mi8e2k4z-0', '31-mi8e2kab-17']
  const seen = ids.map((id) => errors.isNew(new Error(`Missing lock for job ${id}. moveToFinished`)))
  expect(seen).toEqual([true, false, false, false])
})
