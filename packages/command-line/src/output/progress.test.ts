import { expect, test } from 'vitest'
import { Progress, progressText } from './progress.ts'

test('progress has the rate and an estimate', () => {
  const step = { elapsedMs: 10_000, what: 'letters' }
  expect(progressText({ done: 250, total: 1_000, ...step })).toBe(
    '25 %  250 of 1000 letters  25/s  30 s left',
  )
  expect(progressText({ done: 5, total: 5, ...step })).toBe('100 %  5 of 5 letters  0.5/s')
  expect(progressText({ done: 50, total: undefined, ...step })).toBe('50 letters  5.0/s')
})

test('without a terminal a line comes only if more is done', () => {
  let now = 0
  const written: string[] = []
  const stderr = { write: (text: string) => written.push(text) > 0 }
  const progress = new Progress({ what: 'x', quiet: false, stderr, clock: () => now })
  for (now = 1_000; now <= 60_000; now += 1_000) progress.update(now > 30_000 ? 5 : 0)
  expect(written).toEqual(['0 x  0.0/s\n', '5 x  0.2/s\n'])
})

test('lines come after a second at the earliest, and without a terminal they are plain', () => {
  const shown = (isTTY: boolean, quiet = false) => {
    let now = 0
    const written: string[] = []
    const stderr = { isTTY, write: (text: string) => written.push(text) > 0 }
    const progress = new Progress({ what: 'x', quiet, stderr, clock: () => now })
    for (now = 100; now <= 7_000; now += 100) progress.update(now / 100, 70)
    progress.end()
    return written
  }
  expect(shown(false)).toEqual(['14 %  10 of 70 x  10/s  6 s left\n', '85 %  60 of 70 x  10/s  1 s left\n'])
  const terminal = shown(true)
  expect(terminal[0]).toBe('\r\u001b[2K████░░░░░░░░░░░░░░░░░░░░░░░░░░ 14 %  10 of 70 x  10/s  6 s left')
  expect(terminal.at(-1)).toBe('\r\u001b[2K')
  expect(shown(true, true)).toEqual([])
})
