import { createStateLog } from '@fantail/runtime'
import { expect, test } from 'vitest'
import { reportParts } from './part-states.ts'

test('a part that works does not end what another one’s failure began', () => {
  const lines: string[] = []
  const write = (...words: unknown[]) => void lines.push(String(words[1]))
  const report = reportParts(
    createStateLog({ log: { info: write, warn: write }, what: 'lanes', initial: 'up' }),
  )
  report(0, 'up')
  report(1, 'down', new Error('away'))
  report(0, 'up')
  report(2, 'down', new Error('away'))
  report(1, 'up')
  expect(lines).toEqual(['lanes.down'])
  report(2, 'up')
  expect(lines).toEqual(['lanes.down', 'lanes.up'])
})
