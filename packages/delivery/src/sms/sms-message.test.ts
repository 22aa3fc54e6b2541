import { expect, test } from 'vitest'
import { smsParts } from './sms-message.ts'

test('[383] 161 GSM characters are two parts, and so are 71 of UCS-2', () => {
  const parts = (character: string, counts: number[]) =>
    counts.map((count) => smsParts(character.repeat(count)))
  expect(parts('a', [0, 1, 160, 161, 306, 307, 1_600])).toEqual([1, 1, 1, 2, 2, 3, 11])
  expect(parts('ж', [1, 70, 71, 134, 135])).toEqual([1, 1, 2, 2, 3])
})

test('characters of the extension table count two, and those beyond the basic plane too', () => {
  expect([smsParts('€'.repeat(80)), smsParts('€'.repeat(81))]).toEqual([1, 2])
  expect([smsParts('😀'.repeat(35)), smsParts('😀'.repeat(36))]).toEqual([1, 2])
})
