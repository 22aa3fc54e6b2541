import { expect, test } from 'vitest'
import { ProgressReporter } from './progress-reporter.ts'

type Ended = Parameters<ProgressReporter['onTestRunEnd']>[0][number]

const ended = (file: string, seconds: number) =>
  ({
    relativeModuleId: file,
    diagnostic: () => ({ collectDuration: 500, duration: seconds * 1_000 - 500 }),
  }) as Ended

function report(modules: Ended[]): string {
  const lines: string[] = []
  const reporter = new ProgressReporter()
  reporter.onInit({ logger: { log: (text: string) => lines.push(text) } } as never)
  reporter.onTestRunStart(modules)
  reporter.onTestRunEnd(modules)
  return lines.join('\n')
}

test('names the ten files that took longest, imports included, the longest first', () => {
  const files = Array.from({ length: 30 }, (_, i) => ended(`f${i}.test.ts`, i + 1))
  const rows = report(files).split('\n').slice(2)
  expect(rows).toHaveLength(10)
  expect(rows[0]).toBe('    30.0 s  f29.test.ts')
  expect(rows[9]).toBe('    21.0 s  f20.test.ts')
})

test('names none after a run of few files', () => {
  expect(report([ended('a.test.ts', 3)])).toBe('')
})
