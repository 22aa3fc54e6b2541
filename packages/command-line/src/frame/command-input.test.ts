import { expect, test } from 'vitest'
import { durationText, parseDuration, timeOf } from '../output/durations.ts'
import { readPairs, readRate, readWhole } from './command-input.ts'

test.each([
  ['250ms', 250],
  ['30', 30_000],
  ['30s', 30_000],
  ['1.5m', 90_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text, '--x')).toBe(ms)
})

test.each([
  [12, '12 ms'],
  [4_210, '4.2 s'],
  [59_400, '59 s'],
  [200_000, '3 m 20 s'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 m'],
  [345_600_000, '4 d'],
])('%i ms reads %s', (ms, text) => {
  expect(durationText(ms)).toBe(text)
})

test('times are given as they are or as long ago', () => {
  expect(timeOf('10m', '--since', Date.parse('2026-01-01T00:10:00Z'))).toBe('2026-01-01T00:00:00.000Z')
  expect(timeOf('2026-01-01T01:00:00+01:00', '--since')).toBe('2026-01-01T00:00:00.000Z')
  expect(() => timeOf('yesterday', '--since')).toThrow('--since must be a time')
})

test('pairs are text, or JSON after :=', () => {
  expect(readPairs(['a=1', 'b:=2', 'c:=["x"]', 'd=x=y'], '--attr')).toEqual({
    a: '1',
    b: 2,
    c: ['x'],
    d: 'x=y',
  })
  for (const pair of ['a', '=1', 'a:=x']) expect(() => readPairs([pair], '--attr')).toThrow('--attr')
})

test('rates and whole numbers', () => {
  expect(['20', '0.5/s', '600/m', '7200/h'].map((text) => readRate(text, '--rate'))).toEqual([20, 0.5, 10, 2])
  expect(readWhole('7', '--limit')).toBe(7)
  for (const text of ['0', 'x', '5/d', '-1']) expect(() => readRate(text, '--rate')).toThrow('--rate must be')
  for (const text of ['0', '1.5', 'x']) expect(() => readWhole(text, '--limit', 1)).toThrow('--limit must be')
})
