import { expect, test } from 'vitest'
import { type KmsKeys, kmsProblem } from './kms-keys.ts'

const KEY = 'arn:aws:kms:us-east-1:111122223333:key/1234abcd'
const keys: KmsKeys = new Map<string, '*' | 'disabled' | string[]>([
  ['alias/orders', ['111122223333']],
  ['alias/all', '*'],
  ['alias/old', 'disabled'],
  ['1234abcd', ['111122223333']],
])

test.each([
  ['alias/aws/sns', undefined],
  ['arn:aws:kms:us-east-1:000000000000:alias/aws/sqs', undefined],
  ['alias/orders', undefined],
  ['arn:aws:kms:us-east-1:111122223333:alias/orders', undefined],
  [KEY, undefined],
  ['1234abcd', undefined],
  ['alias/all', undefined],
  ['alias/old', 'Disabled'],
  ['alias/other', 'NotFound'],
  ['key', 'NotFound'],
])('the owner may use %s: %s', (keyId, problem) => {
  expect(kmsProblem(keyId, '111122223333', keys)).toBe(problem)
})

test('an account that the list does not name may use only the keys of AWS and those for all', () => {
  const problems = ['alias/orders', KEY, 'alias/all', 'alias/aws/sns'].map((keyId) =>
    kmsProblem(keyId, '444455556666', keys),
  )
  expect(problems).toEqual(['AccessDenied', 'AccessDenied', undefined, undefined])
  expect(kmsProblem('alias/all', '444455556666')).toBe('NotFound')
})
