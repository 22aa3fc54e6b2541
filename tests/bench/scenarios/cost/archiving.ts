/** Publishing to topics with an archive, against the same processes and topics without one. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { waitFor } from '@fantail/test-kit'
import type { Contestant } from '../../contest/contestant.ts'
import { rowOf } from '../../report/rows.ts'
import { type Figure, figureOf } from '../../report/summary.ts'
import type { Scenario, ScenarioOptions } from '../../scenario.ts'
import { endFantail, fantailOn, interleaved, type Stage, withStage } from '../../stage.ts'
import { costOfTopic, onTopic } from '../parts/topic-laps.ts'
import { accepted, empty } from '../throughput/publish-rate.ts'

const WITHIN = 1.05
const ROUNDS = 16
/** No block has more messages, so the others are in blocks. */
const LEFT_MAX = 1_000
const ASK_EVERY_MS = 200

export const archiving: Scenario = {
  name: 'archiving',
  summary: 'CPU per delivery at fan-out 10, and per publish alone, with an archive in a folder against none',
  run: (options) =>
    withStage(async (stage) => {
      const folder = await mkdtemp(join(tmpdir(), 'fantail-bench-archive-'))
      const fantail = await fantailOn(stage, options, {
        env: { FANTAIL_ARCHIVE: pathToFileURL(folder).href },
      })
      const archived = await onTopic(stage, fantail, { name: 'archived', settings: { archive: { days: 1 } } })
      const plain = await onTopic(stage, fantail, { name: 'plain', settings: { archive: null } })
      const topics = lapsWithBlocks(archived, plain, fantail)
      const compared = { name: 'archived : plain', topics, rounds: ROUNDS } as const
      const { ratio, plain: micros, note } = await costOfTopic(stage, compared, options)
      await endFantail(fantail, options)
      const publishing = await costOfPublishing(stage, folder, options)
      await rm(folder, { recursive: true })
      return [
        rowOf('with an archive : without, CPU', ratio, { unit: '×', atMost: WITHIN, note }),
        rowOf('without, CPU per delivery', micros, { unit: 'µs' }),
        rowOf('publishing alone, CPU of the API and of Redis', publishing, { unit: '×', atMost: WITHIN }),
      ]
    }),
}

/** CPU of a publish to a topic with an archive : to one without. Nothing is dispatched. */
async function costOfPublishing(stage: Stage, folder: string, options: ScenarioOptions): Promise<Figure> {
  const env = { FANTAIL_ARCHIVE: pathToFileURL(folder).href }
  const fantail = await fantailOn(stage, options, { env, services: ['publish-api'] })
  const to = { port: fantail.port, pid: fantail.processes.api ?? 0 }
  const microsOn = async (topic: string, archive: object | null) => {
    await onTopic(stage, fantail, { name: topic, settings: { archive } })
    return async () => {
      const before = await fantail.redis.cpuMs()
      const { micros, publishes } = await accepted(stage, to, { topic, batch: undefined, durationMs: 1_000 })
      const redisMicros = ((await fantail.redis.cpuMs()) - before) * 1_000
      await empty(fantail)
      return micros + redisMicros / publishes
    }
  }
  const sides = [await microsOn('archived', { days: 1 }), await microsOn('plain', null)] as const
  await interleaved(1, ...sides)
  const pairs = await interleaved(options.quick ? 4 : ROUNDS, ...sides)
  await endFantail(fantail, options)
  return figureOf(pairs.map(([on, off]) => on / off))
}

/**
 * A lap ends when its messages are in blocks, so that it has their cost. A lap without an archive then asks as often as
 * the latest one with an archive did. Otherwise the ratio would have the cost of idle processes, and of the questions.
 */
function lapsWithBlocks(archived: Contestant, plain: Contestant, { port }: { port: number }) {
  const topicUrl = `http://127.0.0.1:${port}/v1/topics/archived`
  let [published, asked] = [0, 0]
  const left = async () => {
    asked++
    const answer = await fetch(topicUrl)
    const { archived } = (await answer.json()) as { archived: { messages: number } }
    return published - archived.messages
  }
  const on = after(archived, async (accepted) => {
    published += accepted
    asked = 0
    await waitFor(async () => (await left()) < LEFT_MAX, { timeoutMs: 60_000, intervalMs: ASK_EVERY_MS })
  })
  const off = after(plain, async () => {
    const times = asked
    for (asked = 0; asked < times; ) {
      await left()
      if (asked < times) await delay(ASK_EVERY_MS)
    }
  })
  return [on, off] as const
}

/** `wait` belongs to each lap. It gets the number of messages that were published. */
function after(contestant: Contestant, wait: (accepted: number) => Promise<void>): Contestant {
  return {
    ...contestant,
    async load(paths, load) {
      const sent = await contestant.load(paths, load)
      await wait(sent.accepted)
      return sent
    },
  }
}
