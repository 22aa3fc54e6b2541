import { expect, test } from 'vitest'
import { parsePhoneNumber, smsCountryOf } from './phone-number.ts'

test.each([
  ['+1234567890', '+1234567890'],
  ['+123123123', '+123123123'],
  ['+12/34-567.890', '+1234567890'],
  ['+1 555 0100', '+15550100'],
])('%s is a number', (text, number) => {
  expect(parsePhoneNumber(text)).toBe(number)
})

test.each([
  'invalid-number',
  '+15--551234567',
  'NAA+15551234567',
  '+15551234567.',
  '/+15551234567',
  '15551234567',
  '+0555123456',
  '+12345',
  '+1234567890123456',
  '+1555010０',
  '+15550100\n',
  `+1${' 5'.repeat(500_000)}`,
])('%j is none', (text) => {
  expect(parsePhoneNumber(text)).toBeUndefined()
})

test('a number belongs to the country with the longest beginning', () => {
  const countries = [{ prefix: '+1' }, { prefix: '+1876', priceUsd: 0.2 }, { prefix: '+49' }]
  expect(smsCountryOf('+18765550100', countries)).toEqual({ prefix: '+1876', priceUsd: 0.2 })
  expect(smsCountryOf('+15550100', countries.toReversed())).toEqual({ prefix: '+1' })
  expect(smsCountryOf('+4415550100', countries)).toBeUndefined()
})
