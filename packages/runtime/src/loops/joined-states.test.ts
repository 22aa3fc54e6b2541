import { expect, test } from 'vitest'
import { joinStates } from './joined-states.ts'
import { createStateLog } from './state-log.ts'

test('a member that works does not end what another one’s failure began', () => {
  const lines: string[] = []
  const write = (...words: unknown[]) => void lines.push(String(words[1]))
  const report = joinStates(
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
