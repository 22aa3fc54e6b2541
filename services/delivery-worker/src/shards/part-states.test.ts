import { createStateLog } from '@fantail/runtime'
import { expect, test } from 'vitest'
import { tellParts } from './part-states.ts'

test('a part that works does not end what another one’s failure began', () => {
  const lines: string[] = []
  const write = (...words: unknown[]) => void lines.push(String(words[1]))
  const tell = tellParts(createStateLog({ log: { info: write, warn: write }, what: 'lanes', initial: 'up' }))
  tell(0, 'up')
  tell(1, 'down', new Error('away'))
  tell(0, 'up')
  tell(2, 'down', new Error('away'))
  tell(1, 'up')
  expect(lines).toEqual(['lanes.down'])
  tell(2, 'up')
  expect(lines).toEqual(['lanes.down', 'lanes.up'])
})
