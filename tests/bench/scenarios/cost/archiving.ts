/** Publishing to topics with an archive, against the same processes and topics without one. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { waitFor } from '@fantail/test-kit'
import type { Contestant } from '../../contest/contestant.ts'
import { rowOf } from '../../report/rows.ts'
import type { Scenario } from '../../scenario.ts'
import { endFantail, fantailOn, withStage } from '../../stage.ts'
import { costOfTopic, onTopic } from '../parts/topic-laps.ts'

const WITHIN = 1.05
const ROUNDS = 16
/** No block has more messages, so the others are in blocks. */
const LEFT_MAX = 1_000

export const archiving: Scenario = {
  name: 'archiving',
  summary: 'CPU per delivery at fan-out 10 with an archive in a folder, blocks included, against none',
  run: (options) =>
    withStage(async (stage) => {
      const folder = await mkdtemp(join(tmpdir(), 'fantail-bench-archive-'))
      const fantail = await fantailOn(stage, options, {
        env: { FANTAIL_ARCHIVE: pathToFileURL(folder).href },
      })
      const archived = await onTopic(stage, fantail, { name: 'archived', settings: { archive: { days: 1 } } })
      const on = untilWritten(archived, `http://127.0.0.1:${fantail.port}/v1/topics/archived`)
      const off = await onTopic(stage, fantail, { name: 'plain', settings: { archive: null } })
      const compared = { name: 'archived : plain', topics: [on, off], rounds: ROUNDS } as const
      const { ratio, plain, note } = await costOfTopic(stage, compared, options)
      await endFantail(fantail, options)
      await rm(folder, { recursive: true })
      return [
        rowOf('with an archive : without, CPU', ratio, { unit: '×', atMost: WITHIN, note }),
        rowOf('without, CPU per delivery', plain, { unit: 'µs' }),
      ]
    }),
}

/** A lap ends when its messages are in blocks, so that it has their cost. */
function untilWritten(contestant: Contestant, topicUrl: string): Contestant {
  let published = 0
  const left = async () => {
    const answer = await fetch(topicUrl)
    const { archived } = (await answer.json()) as { archived: { messages: number } }
    return published - archived.messages
  }
  return {
    ...contestant,
    async load(paths, load) {
      const sent = await contestant.load(paths, load)
      published += sent.accepted
      await waitFor(async () => (await left()) < LEFT_MAX, { timeoutMs: 60_000, intervalMs: 200 })
      return sent
    },
  }
}
