/** `fantail tail` as a process, while its server is killed and started again. */
import { freePort, waitFor } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { publish, subscribe } from '../harness/receivers/webhooks.ts'
import { followFantail, type RunningFantail, runFantail } from '../harness/services/run-fantail.ts'
import { useStack } from '../harness/services/stack.ts'

// After a restart the server must have the same address.
const stack = useStack({ env: { FANTAIL_PORT: String(await freePort()) } })
const receiver = useReceiver()
const running: RunningFantail[] = []

afterEach(async () => {
  for (const { kill, ended } of running.splice(0)) {
    kill('SIGKILL')
    await ended
  }
})

function tail(words: string): RunningFantail {
  const process = followFantail(['tail', ...words.split(' ')], { FANTAIL_URL: stack().api.url })
  running.push(process)
  return process
}

const linesOf = ({ so }: RunningFantail) =>
  so.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
const until = (process: RunningFantail, what: string, condition: () => boolean) =>
  waitFor(condition, { what: `${what}, not ${JSON.stringify(process.so)}` })

test('it prints each end once over a killed server, and ends by Ctrl-C with 130', async () => {
  await subscribe(stack(), 'orders', { endpoint: `${receiver().url}/orders` })
  const tailing = tail('orders --type delivered,attempt --json')
  await until(tailing, 'live', () => tailing.so.stderr.includes('live'))
  const ends = () => linesOf(tailing).filter(({ type }) => type === 'delivered')
  const before = [await publish(stack(), 'orders', 'one'), await publish(stack(), 'orders', 'two')]
  await until(tailing, 'two ends', () => ends().length === 2)
  await stack().api.kill()
  await until(tailing, 'the loss', () => tailing.so.stderr.includes('connection lost'))
  await stack().api.start()
  const after = [await publish(stack(), 'orders', 'three')]
  await until(tailing, 'the third end', () => ends().length === 3)
  // Two messages at nearly the same time may end in either order.
  const ended = ends().map(({ messageId }) => messageId)
  expect([ended.slice(0, 2).toSorted(), ended.slice(2)]).toEqual([before.toSorted(), after])
  expect(ends()[0]).toMatchObject({ type: 'delivered', statusCode: 200, id: expect.any(String) })
  expect(linesOf(tailing).filter(({ type }) => type === 'gap')).toMatchObject([
    { dropped: null, why: 'reconnect' },
  ])
  expect(tailing.so.stderr).toMatch(/live\nconnection lost.*\nlive again, after .*\n/)
  tailing.kill('SIGINT')
  expect((await tailing.ended).code).toBe(130)
  const later = tail(`orders --type delivered --after ${ends()[0]?.id} --count 2 --json`)
  expect((await later.ended).code).toBe(0)
  expect(linesOf(later).map(({ messageId }) => messageId)).toEqual(ended.slice(1))
})

test('lines for people have time, status, endpoint and cause', async () => {
  receiver().respond('/busy', { status: 503 })
  const deliveryPolicy = { healthyRetryPolicy: { numRetries: 1, minDelayTarget: 600, maxDelayTarget: 600 } }
  await subscribe(stack(), 'busy', { endpoint: `${receiver().url}/busy`, deliveryPolicy })
  const tailing = tail('busy --status 5xx --count 1')
  await until(tailing, 'live', () => tailing.so.stderr.includes('live'))
  const messageId = await publish(stack(), 'busy', 'x')
  const { code, stdout } = await tailing.ended
  expect(code).toBe(0)
  const line = /^\d\d:\d\d:\d\d\.\d{3} {2}(attempt|parked) +503 .*busy → http:\S+\/busy {2}a1 {2}(\S+)/.exec(
    stdout,
  )
  expect([line?.[2], stdout]).toEqual([messageId, expect.any(String)])
})

test('a wrong type, an unknown subscription and a silent server have their exit codes', async () => {
  const env = { FANTAIL_URL: stack().api.url }
  const codeOf = async (...words: string[]) => (await runFantail(['tail', ...words], { env })).code
  expect(await codeOf('--type', 'explosion')).toBe(2)
  expect(await codeOf('--sub', '2e654d04-1cfb-895e-a000-0d768d1de671')).toBe(3)
  expect(await codeOf('--url', `http://127.0.0.1:${await freePort()}`)).toBe(6)
  expect(await codeOf('--timeout', '1s')).toBe(7)
})

provesCommands('tests/cli/tail-command.test.ts')
