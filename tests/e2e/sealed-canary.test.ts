/** With FANTAIL_SEAL=all, the content of messages is nowhere in Redis, nor in its files, logs and archives. */
import { mkdtempSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { zstdDecompressSync } from 'node:zlib'
import { waitFor, watchCommands } from '@fantail/test-kit'
import { afterAll, expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { publish, retries, subscribe } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const CANARY = 'canary-e2c94b'
const archive = mkdtempSync(join(tmpdir(), 'fantail-archive-'))
afterAll(() => rm(archive, { recursive: true, force: true }))
const stack = useStack({
  redrive: true,
  redis: { appendfsync: 'always' },
  env: {
    FANTAIL_SEAL: 'all',
    FANTAIL_LOG_LEVEL: 'debug',
    FANTAIL_ARCHIVE: pathToFileURL(archive).href,
  },
})
const receiver = useReceiver()

interface Message {
  messageId: string
  body: string
}

const messagesOf = async (queue: string) =>
  (await stack().client.get<{ messages: Message[] }>(`/v1/queues/${queue}/messages`)).messages
const receive = async (queue: string) =>
  (await stack().client.post<{ messages: Message[] }>(`/v1/queues/${queue}/receive`, { waitSeconds: 10 }))
    .messages
const textsAt = (path: string) =>
  receiver()
    .requestsTo(path)
    .map(({ text }) => text)

/** All files below the folder of Redis: its dump and its append-only file. */
async function redisFiles(): Promise<string> {
  const { connection } = stack()
  // A compressed text might hide the words.
  await connection.config('SET', 'rdbcompression', 'no')
  await connection.save()
  const [, folder = ''] = (await connection.config('GET', 'dir')) as string[]
  return Buffer.concat(await filesIn(folder)).toString('latin1')
}

async function filesIn(folder: string): Promise<Buffer[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.partial'))
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name))))
}

/** Into blocks of an archive, and from there to a new subscription. Returns the lines of the blocks. */
async function throughArchive(): Promise<string> {
  const { client } = stack()
  await client.put('/v1/topics/archived', { archive: { days: 1 } })
  // So many bytes fill a block at once.
  const message = `${CANARY} ${'x'.repeat(100_000)}`
  const isAccepted = async () => {
    const { status } = await client.call('POST', '/v1/topics/archived/messages', { body: { message } })
    return status === 202
  }
  // A busy disk may answer late.
  for (let n = 0; n < 12; n++) await waitFor(isAccepted)
  const blocks = await waitFor(async () => {
    const found = await filesIn(archive)
    return found.length > 0 ? found : undefined
  })
  const endpoint = `${receiver().url}/replayed`
  const { id } = await subscribe(stack(), 'archived', { endpoint, rawMessageDelivery: true })
  await client.post(`/v1/subscriptions/${id}/resend`, { since: '2026-01-01T00:00:00Z' })
  await waitFor(() => textsAt('/replayed').length >= 12)
  expect(new Set(textsAt('/replayed'))).toEqual(new Set([message]))
  return blocks.map((block) => String(zstdDecompressSync(block))).join('')
}

/** A message that fails, is dead-lettered, edited and redriven, and in the end arrives. */
async function failAndRedrive(): Promise<void> {
  const { client } = stack()
  let status = 500
  receiver().respond('/hook', () => ({ status, body: `no: ${CANARY}` }))
  const endpoint = `${receiver().url}/hook`
  const settings = { rawMessageDelivery: true, deliveryPolicy: retries(0) }
  const keepMessages = { seconds: 3_600, bytes: 1_048_576 }
  await subscribe(stack(), 'orders', { endpoint, ...settings }, { keepMessages, recordAttempts: 'all' })
  await publish(stack(), 'orders', CANARY)
  const dead = 'orders-dead-letters'
  const [letter] = await waitFor(async () => {
    const { body } = await client.call<{ messages?: Message[] }>('GET', `/v1/queues/${dead}/messages`)
    return body.messages?.length ? body.messages : undefined
  })
  status = 200
  const edit = { message: `edited ${CANARY}` }
  await client.post(`/v1/queues/${dead}/messages/${letter?.messageId}/redrive`, edit)
  await waitFor(() => textsAt('/hook').length === 2)
  expect(textsAt('/hook')).toEqual([CANARY, `edited ${CANARY}`])
}

/** Through a FIFO topic into a queue, from there into the queue of dead letters, and back. */
async function throughQueues(): Promise<void> {
  const { client } = stack()
  await client.put('/v1/queues/poison.fifo')
  const redrivePolicy = { deadLetterTargetArn: 'poison.fifo', maxReceiveCount: 1 }
  const settings = { redrivePolicy, visibilityTimeoutSeconds: 0, contentBasedDeduplication: true }
  const { arn } = await client.put<{ arn: string }>('/v1/queues/work.fifo', settings)
  await client.put('/v1/topics/steps.fifo', { contentBasedDeduplication: true })
  const subscription = { endpoint: arn, rawMessageDelivery: true }
  await client.post('/v1/topics/steps.fifo/subscriptions', subscription)
  await client.post('/v1/topics/steps.fifo/messages', { message: CANARY, groupId: 'g' })
  expect(await receive('work.fifo')).toMatchObject([{ body: CANARY }])
  await client.call('POST', '/v1/queues/work.fifo/receive', { body: {} })
  await waitFor(async () => (await messagesOf('poison.fifo')).length === 1)
  await client.patch('/v1/queues/work.fifo', { redrivePolicy: null })
  await client.post('/v1/redrives', { source: 'poison.fifo' })
  expect(await receive('work.fifo')).toMatchObject([{ body: CANARY }])
}

test('[408] no command to Redis, no file of Redis, no log and no archive shows the content of a message', async () => {
  const { connection, logText } = stack()
  const watched = await watchCommands(connection)
  await failAndRedrive()
  await throughQueues()
  const blocks = await throughArchive()
  const commands = (await watched()).map(({ words }) => words.join(' ')).join('\n')
  // MONITOR escapes quotes.
  expect(commands).toContain('\\"sealed\\":')
  const files = await redisFiles()
  expect(files).toContain('"sealed":')
  expect(blocks).toContain('"sealed":')
  const places = { commands, files, logs: logText(), blocks }
  for (const [place, text] of Object.entries(places)) expect(text.includes(CANARY), place).toBe(false)
})
