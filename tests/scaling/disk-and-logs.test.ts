/** Measures the table of docs/scaling.md#disk-and-logs: what a message adds to the append-only file and to logs. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { useStack } from '../harness/services/stack.ts'
import { textOf } from '../repo/repository.ts'

const MESSAGES = 100
const stack = useStack({ redis: { appendfsync: 'everysec' } })
const receiver = useReceiver()

interface Weight {
  /** Bytes that the append-only file grows by. */
  file: number
  /** Lines and bytes that the logs of all processes grow by. */
  lines: number
  log: number
}

async function sizes(): Promise<Weight> {
  const info = await stack().connection.info('persistence')
  const file = Number(/aof_current_size:(\d+)/.exec(info)?.[1])
  const lines = stack()
    .services()
    .flatMap((service) => service.logLines())
  return {
    file,
    lines: lines.length,
    log: Buffer.byteLength(lines.map((line) => JSON.stringify(line)).join('\n')),
  }
}

/** The weight of one message with a text of 1,024 characters, of which each delivery fails `failures` times. */
async function weigh(name: string, failures: number): Promise<Weight> {
  const { client } = stack()
  const tried = new Map<string, number>()
  receiver().respond(`/${name}`, ({ headers }) => {
    const id = String(headers['x-amz-sns-message-id'])
    const before = tried.get(id) ?? 0
    tried.set(id, before + 1)
    return { status: before < failures ? 503 : 200 }
  })
  await client.put(`/v1/topics/${name}`)
  const deliveryPolicy = { healthyRetryPolicy: { numRetries: 3, numNoDelayRetries: 3 } }
  const endpoint = `${receiver().url}/${name}`
  const { id } = await client.post<{ id: string }>(`/v1/topics/${name}/subscriptions`, {
    endpoint,
    deliveryPolicy,
  })
  const before = await sizes()
  // One after the other: how many messages share a write and a line otherwise depends on the machine.
  for (let n = 0; n < MESSAGES; n++) {
    await client.post(`/v1/topics/${name}/messages`, { message: 'x'.repeat(1_024) })
    await waitFor(() => tried.size > n, { what: 'its first attempt', intervalMs: 5 })
  }
  const settled = async () => {
    const { lane } = await client.get<{ lane: { waiting: number; inFlight: number } }>(
      `/v1/subscriptions/${id}`,
    )
    return (
      tried.size === MESSAGES &&
      [...tried.values()].every((n) => n > failures) &&
      lane.waiting + lane.inFlight === 0
    )
  }
  await waitFor(settled, { what: 'every delivery', timeoutMs: 60_000, intervalMs: 200 })
  const after = await sizes()
  const each = (of: keyof Weight) => (after[of] - before[of]) / MESSAGES
  return { file: each('file'), lines: each('lines'), log: each('log') }
}

/** The numbers of the row of docs/scaling.md that begins with these words. */
function figures(row: string): number[] {
  const [, cells = ''] = new RegExp(`^\\| ${row} \\|(.*)$`, 'm').exec(textOf('docs/scaling.md')) ?? []
  return [...cells.matchAll(/[\d,]+/g)].map(([figure]) => Number(figure.replaceAll(',', '')))
}

test('a message adds as much to file and log as docs/scaling.md says', async () => {
  await stack().connection.config('SET', 'auto-aof-rewrite-percentage', '0')
  const good = await weigh('good', 0)
  const retried = await weigh('retried', 1)
  expectNear('a message of 1 KB to one webhook that takes it', good)
  const more = (of: keyof Weight) => retried[of] - good[of]
  expectNear('each failed attempt, with its retry', {
    file: more('file'),
    lines: more('lines'),
    log: more('log'),
  })
})

/** A busy machine parks more deliveries, so the figures vary. */
function expectNear(row: string, measured: Weight): void {
  const [file = 0, lines = 0, log = 0] = figures(row)
  const far = [
    [file, measured.file],
    [lines, measured.lines],
    [log, measured.log],
  ].filter(([figure = 0, of = 0]) => of > figure * 1.3 || of < figure / 1.5)
  expect([row, measured, far]).toEqual([row, measured, []])
}
