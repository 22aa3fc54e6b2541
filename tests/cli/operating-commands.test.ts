/** Commands of `fantail` for the operation of a server, on one API. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createMessageId } from '@fantail/contracts'
import { messageBody, Processes, Quarantine } from '@fantail/store'
import { browserSubscription, vapidCredential, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { provesCommands } from '../harness/command-line/checked-runs.ts'
import { callFantail } from '../harness/services/call-fantail.ts'
import type { Ended } from '../harness/services/run-fantail.ts'
import { useStack } from '../harness/services/stack.ts'
import { ROOT } from '../repo/repository.ts'

const stack = useStack()
let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'fantail-cli-'))
})

afterAll(() => rm(home, { recursive: true }))

function fantail(words: string | string[], stdin = ''): Promise<Ended> {
  const env = { FANTAIL_URL: stack().api.url, XDG_CONFIG_HOME: home }
  return callFantail(typeof words === 'string' ? words.split(' ') : words, { env, stdin })
}

async function objects<T = Record<string, unknown>>(words: string, stdin?: string): Promise<T[]> {
  const { code, stdout, stderr } = await fantail(`${words} --json --quiet`, stdin)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}

test('a curve is drawn without a server, and a wrong policy is refused', async () => {
  const policy = '{"numRetries":3,"minDelayTarget":1,"maxDelayTarget":9,"backoffFunction":"linear"}'
  expect((await objects('curve -', policy)).map(({ atSeconds }) => atSeconds)).toEqual([1, 6, 15])
  const plot = await fantail('curve - --plot', policy)
  expect(plot.stdout).toMatch(
    /\n3 +backoff +9 s +15 s +●\n3 retries, the last 15 s after the first attempt\n$/,
  )
  const outage = await fantail('curve - --outage 5s', policy)
  expect(outage.stdout).toMatch(/\nafter an outage of 5 s retry 2 delivers, 1 s after its end\n$/)
  const outages = await objects('curve - --outage 7s', policy)
  expect(outages.map(({ afterOutage }) => afterOutage)).toEqual([false, false, true])
  const long = await fantail('curve - --outage 1h', policy)
  expect(long.stdout).toContain('an outage of 1 h outlasts the retries')
  const wrong = await fantail('curve -', '{"numRetries":-1}')
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('numRetries') })
})

test('lanes are listed with a verdict', async () => {
  await stack().client.put('/v1/topics/stuck')
  const endpoint = 'http://127.0.0.1:9/'
  const { id } = await stack().client.post<{ id: string }>('/v1/topics/stuck/subscriptions', { endpoint })
  await stack().client.post(`/v1/subscriptions/${id}/pause`)
  await stack().client.post('/v1/topics/stuck/messages', { message: 'x' })
  await expect
    .poll(() => objects('lanes --topic stuck'), { timeout: 30_000 })
    .toMatchObject([{ subscriptionId: id, verdict: { code: 'paused' } }])
  expect(await objects('lanes --topic-prefix stu')).toMatchObject([{ subscriptionId: id }])
  expect(await objects('lanes --topic-prefix tuck')).toEqual([])
  expect((await fantail('lanes')).stdout).toMatch(/^SUBSCRIPTION +VERDICT.*\n.* paused +stuck +1 /)
})

test('many lanes are paused by a plan, undone, tested, and purged', async () => {
  await stack().client.put('/v1/topics/many')
  const ids = await Promise.all(
    ['a', 'b'].map(async (path) => {
      const endpoint = `http://127.0.0.1:9/${path}`
      return (await stack().client.post<{ id: string }>('/v1/topics/many/subscriptions', { endpoint })).id
    }),
  )
  const [plan] = await objects('lanes pause --host 127.0.0.1:9 --topic many --plan')
  expect(plan).toMatchObject({ status: 'planned', total: 2, words: expect.stringMatching(/^pause 2 lanes/) })
  const [paused] = await objects('lanes pause --topic many --yes')
  expect(paused).toMatchObject({ status: 'completed', results: { paused: 2 } })
  expect(await objects('lanes tasks --limit 1')).toMatchObject([{ id: paused?.id }])
  expect(await objects(`lanes watch ${paused?.id}`)).toMatchObject([{ canUndo: true }])
  expect(await objects(`lanes undo ${paused?.id}`)).toMatchObject([{ results: { resumed: 2 } }])
  expect((await fantail(`lanes cancel ${paused?.id}`)).code).toBe(5)
  const tested = await fantail(`lanes test ${ids.join(' ')} --yes --json`)
  expect(tested.code).toBe(8)
  const { id: failed } = JSON.parse(tested.stdout) as { id: string }
  expect((await fantail(`lanes watch ${failed} --json`)).code).toBe(8)
  for (const action of ['resume', 'retry --rate 10/s', 'redrive', 'purge'])
    expect(await objects(`lanes ${action} --topic many --plan`)).toMatchObject([{ status: 'planned' }])
  expect(await fantail('lanes purge --topic many')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('purge 2 lanes'),
  })
  expect((await fantail('lanes purge')).code).toBe(2)
  expect(await objects('lanes erase --topic-prefix man --plan')).toMatchObject([
    { counts: { topics: 1, lanes: 2 } },
  ])
  expect((await fantail('lanes erase --topic many --plan')).code).toBe(2)
  expect(await objects('lanes purge --topic many --yes')).toMatchObject([{ status: 'completed' }])
})

test('a task on many lanes is canceled', async () => {
  const hung = createServer(() => undefined)
  await once(hung.listen(0, '127.0.0.1'), 'listening')
  const { port } = hung.address() as AddressInfo
  await stack().client.put('/v1/topics/hung')
  const endpoint = `http://127.0.0.1:${port}/`
  await stack().client.post('/v1/topics/hung/subscriptions', { endpoint })
  const body = { action: 'test', select: { topic: 'hung' } }
  const { id: plan } = await stack().client.post<{ id: string }>('/v1/bulk-plans', body)
  await stack().client.post('/v1/bulk', { plan })
  expect(await objects(`lanes cancel ${plan}`)).toMatchObject([{ status: 'canceling' }])
  hung.closeAllConnections()
  hung.close()
})

test('a set-up is exported, planned and applied, and only differences are changed', async () => {
  await stack().client.put('/v1/queues/jobs', { visibilityTimeoutSeconds: 60 })
  await stack().client.put('/v1/queues/leased', { leaseSeconds: 3_600 })
  await stack().client.put('/v1/topics/orders')
  await stack().client.put('/v1/topics/orders/event-types/paid', {
    schema: { type: 'object' },
    examples: [{}],
  })
  await stack().client.post('/v1/topics/orders/subscriptions', {
    endpoint: 'http://127.0.0.1:9/a',
    name: 'a',
  })
  const [state] = await objects<{ queues: object[] }>('export')
  const file = join(home, 'state.json')
  await writeFile(file, JSON.stringify(state))
  expect(await fantail(`apply -f ${file} --plan`)).toMatchObject({
    code: 0,
    stdout: '',
    // A slow machine shows progress first.
    stderr: expect.stringMatching(/^(\d+ topics read .*\n)*0 changes\n$/),
  })

  await stack().client.patch('/v1/queues/jobs', { visibilityTimeoutSeconds: 30 })
  await stack().client.delete('/v1/queues/leased')
  await stack().client.delete('/v1/topics/orders')
  await stack().client.put('/v1/topics/extra')
  const planned = await fantail(`apply -f ${file} --plan --prune`)
  expect([planned.code, planned.stdout.split('\n')]).toEqual([
    9,
    [
      '~ queue jobs',
      '    visibilityTimeoutSeconds: 30 → 60',
      '+ queue leased',
      '+ topic orders',
      '+ eventType paid of orders',
      '+ subscription http://127.0.0.1:9/a of orders',
      '- topic extra',
      '',
    ],
  ])
  expect((await fantail(`apply -f ${file} --prune`)).code).toBe(2)
  expect(await objects(`apply -f ${file} --prune --yes`)).toHaveLength(6)
  expect(await objects('export')).toEqual([state])
  expect((await fantail('apply -f -', '{}')).code).toBe(2)

  const yaml = (signing: string) => `version: 1
queues:
  - name: made
topics:
  - name: also-made
    settings: { signing: ${signing} }
    subscriptions: []
`
  const plannedYaml = await fantail('apply -f - --plan', yaml('none'))
  expect([plannedYaml.code, plannedYaml.stdout]).toEqual([9, '+ queue made\n+ topic also-made\n'])
  const wrong = await fantail('apply -f - --plan', yaml('none').replace('- name', '- title'))
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('stdin, line 3, column 5: queues[0].title is unknown'),
  ])
  const refused = await fantail('apply -f - --plan', yaml('nonsense'))
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('stdin, line 6, column 17: topics[0].settings.signing must be one of'),
  ])
  // Only the server judges policies that name other objects.
  const endpoint = 'http://127.0.0.1:9/a'
  const settings = '{ redrivePolicy: { deadLetterTargetArn: made.fifo } }'
  const toFifo = yaml('none').replace(
    'subscriptions: []',
    `subscriptions: [{ endpoint: '${endpoint}', settings: ${settings} }]`,
  )
  const partly = await fantail('apply -f - --json', toFifo)
  expect([partly.code, partly.stdout]).toEqual([8, expect.stringContaining('"name":"made"')])
  expect(partly.stderr).toContain(`create subscription ${endpoint}: `)
  expect(partly.stderr).toContain('2 of 3 changes were made')
})

test('topics and queues are exported by prefix and name, with the queues to which they lead', async () => {
  const { client } = stack()
  const deadLetters = (deadLetterTargetArn: string) => ({ deadLetterTargetArn, maxReceiveCount: 3 })
  await client.put('/v1/queues/far-last')
  await client.put('/v1/queues/shop-dead', { redrivePolicy: deadLetters('far-last') })
  await client.put('/v1/queues/far-work')
  await client.put('/v1/topics/shop-orders')
  await client.post('/v1/topics/shop-orders/subscriptions', {
    endpoint: 'far-work',
    protocol: 'sqs',
    redrivePolicy: { deadLetterTargetArn: 'shop-dead' },
  })
  await client.put('/v1/topics/single')
  const exported = async (words: string) => {
    const [state] = await objects<Record<'queues' | 'topics', { name: string }[]>>(`export ${words}`)
    return [state?.queues, state?.topics].map((items) => items?.map(({ name }) => name).toSorted())
  }
  const all = [['far-last', 'far-work', 'shop-dead'], ['shop-orders']]
  expect(await exported('--prefix shop-')).toEqual(all)
  expect(await exported('--topic single --queue shop-dead')).toEqual([['far-last', 'shop-dead'], ['single']])
  expect((await fantail('export --topic none')).code).toBe(3)

  const { stdout: file } = await fantail('export --prefix shop- --json')
  await client.put('/v1/queues/shop-extra')
  const planned = await fantail('apply -f - --plan --prune shop-', file)
  expect([planned.code, planned.stdout]).toEqual([9, '- queue shop-extra\n'])
})

test('a file that was applied does not differ, in whatever form it was written', async () => {
  const file = `version: 1
queues:
  - name: forms-jobs
    settings: { redrivePolicy: { deadLetterTargetArn: forms-dead, maxReceiveCount: 3 } }
  - name: arn:aws:sqs:us-east-1:000000000000:forms-dead
    settings: { redriveAllowPolicy: { redrivePermission: byQueue, sourceQueueArns: [forms-jobs] } }
topics:
  - name: forms
    settings: { deliveryPolicy: { healthyRetryPolicy: { preset: patient } } }
    subscriptions:
      - endpoint: forms-jobs
        settings: { protocol: sqs, redrivePolicy: { deadLetterTargetArn: forms-dead } }
      - endpoint: http://127.0.0.1:9/forms
        settings: { circuitBreaker: { failures: 3 } }
`
  expect(await fantail('apply -f -', file)).toMatchObject({ code: 0 })
  expect(await fantail('apply -f - --plan', file)).toMatchObject({ code: 0, stdout: '' })
})

test('a file may name the queue that a topic has made for its dead letters', async () => {
  const { client } = stack()
  await client.put('/v1/topics/own', { deliveryPolicy: { healthyRetryPolicy: { numRetries: 0 } } })
  await client.post('/v1/topics/own/subscriptions', { endpoint: 'http://127.0.0.1:9/own' })
  await client.post('/v1/topics/own/messages', { message: 'x' })
  await waitFor(async () => (await fantail('queues get own-dead-letters')).code === 0)
  const file = `version: 1
queues: []
topics:
  - name: own
    subscriptions:
      - endpoint: http://127.0.0.1:9/own
      - endpoint: http://127.0.0.1:9/other
        settings: { redrivePolicy: { deadLetterTargetArn: own-dead-letters, createQueue: true } }
`
  const applied = await fantail('apply -f -', file)
  expect([applied.code, applied.stdout]).toEqual([0, '+ subscription http://127.0.0.1:9/other of own\n'])
  expect(await fantail('apply -f - --plan --prune own', file)).toMatchObject({ code: 0, stdout: '' })

  for (const words of ['--topic own', '--prefix own', '']) {
    const { stdout: exported } = await fantail(`export ${words} --json`.split(/ +/))
    const names = (JSON.parse(exported).queues as { name: string }[]).map(({ name }) => name)
    expect(names).toContain('own-dead-letters')
    expect(await fantail('apply -f - --plan', exported)).toMatchObject({ code: 0, stdout: '' })
  }
  const { stdout: exported } = await fantail('export --topic own --json')
  await client.delete('/v1/topics/own')
  await client.delete('/v1/queues/own-dead-letters')
  expect(await fantail('apply -f -', exported)).toMatchObject({ code: 0 })
  expect(await fantail('apply -f - --plan', exported)).toMatchObject({ code: 0, stdout: '' })
})

test('the schema of the file is printed without a server', async () => {
  const { code, stdout } = await fantail('export --schema --url http://127.0.0.1:9 --json')
  expect([code, Object.keys(JSON.parse(stdout).properties)]).toEqual([
    0,
    ['$schema', 'version', 'queues', 'topics'],
  ])
})

test('the doctor finds settings that lose messages', async () => {
  const { client } = stack()
  await client.put('/v1/queues/letters', { retentionSeconds: 3_600 })
  const redrivePolicy = { deadLetterTargetArn: 'letters', maxReceiveCount: 1 }
  await client.put('/v1/queues/work', { retentionSeconds: 3_600, visibilityTimeoutSeconds: 5, redrivePolicy })
  await client.put('/v1/queues/work/consumers/slow', { url: 'http://127.0.0.1:9/', timeoutSeconds: 30 })
  await client.put('/v1/queues/alone')
  await client.put('/v1/queues/alone.fifo')
  await client.put('/v1/queues/not-there')
  await client.put('/v1/queues/orphan', {
    redrivePolicy: { deadLetterTargetArn: 'not-there', maxReceiveCount: 5 },
  })
  expect((await fantail('queues rm not-there --yes')).stderr).toMatch(
    /^not-there is still the dead-letter queue of \S+:orphan\. `fantail doctor`/,
  )
  await client.put('/v1/topics/loose')
  const loose = { endpoint: 'http://127.0.0.1:9/', redrivePolicy: null, name: 'loose' }
  await client.post('/v1/topics/loose/subscriptions', loose)
  await client.put('/v1/topics/looser')
  for (const endpoint of ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b'])
    await client.post('/v1/topics/looser/subscriptions', { endpoint, redrivePolicy: null })
  const ended = await fantail('doctor --webhook')
  for (const text of [
    '✓ clock: agrees with the server',
    ' from which on publishing is refused',
    '✓ data format: format 1, capabilities: none; all of 2 processes know the same',
    '▲ queue work: maxReceiveCount is 1',
    '▲ queue work: letters keeps letters for 1 h, no longer than work',
    '▲ queue work: visibility of 5 s is below the 30 s that consumer slow',
    '▲ queue alone: has no dead-letter queue',
    '▲ queue orphan: its dead-letter queue not-there does not exist',
    '▲ subscription loose: http://127.0.0.1:9/ has no dead-letter queue',
    '▲ topic looser: 2 subscriptions have no dead-letter queue, such as http://127.0.0.1:9/',
    '✓ webhook: came signed after',
  ]) {
    expect(ended.stdout).toContain(text)
  }
  expect(ended.code).toBe(0)
  const { topics } = await client.get<{ topics: { name: string }[] }>('/v1/topics?prefix=fantail-doctor')
  expect(topics).toEqual([])
  expect((await objects('doctor')).length).toBeGreaterThan(5)

  // A queue that a remedy makes may need one itself.
  for (let round = 0; round < 2; round++)
    for (const line of await remedies()) {
      expect([line, await fantail(line.slice('fantail '.length))]).toMatchObject([line, { code: 0 }])
    }
  expect(await remedies()).toEqual([])
})

/** The commands that the doctor prints. */
async function remedies(): Promise<string[]> {
  const fixes = (await objects<{ fix?: string }>('doctor')).map(({ fix = '' }) => fix)
  return fixes.filter((fix) => fix.startsWith('fantail ')).flatMap((fix) => fix.split(' && '))
}

test('the doctor names processes that keep something newer from taking effect', async () => {
  const newer = new Processes(stack().connection, { oldest: 1, newest: 2, capabilities: ['packed'] })
  const fixed = { role: 'redrive', mode: 'local', version: '2', commit: 'c', host: 'h', pid: 1 } as const
  await newer.report({
    id: 'newer',
    ...fixed,
    startedAt: '2026-11-21T09:30:00.000Z',
    slots: null,
    load: 0,
    lagMs: 0,
  })
  const warned =
    '▲ data format: format 1, capabilities: none; 2 of 3 processes do not know all that others know: '
  await waitFor(async () => (await fantail('doctor')).stdout.includes(warned), { what: 'the warning' })
  await newer.end('newer')
})

test('the doctor fails if a clock is wrong', async () => {
  const hourAgo = new Date(Date.now() - 3_600_000).toUTCString()
  const late = createServer(async ({ url = '' }, response) => {
    const answer = await fetch(stack().api.url + url)
    response.writeHead(answer.status, { date: hourAgo }).end(await answer.text())
  })
  await once(late.listen(0, '127.0.0.1'), 'listening')
  try {
    const { port } = late.address() as AddressInfo
    const ended = await fantail(`doctor --url http://127.0.0.1:${port}`)
    expect([ended.code, ended.stdout]).toEqual([1, expect.stringContaining('✕ clock: differs by ')])
  } finally {
    late.close()
    late.closeAllConnections()
  }
})

test('push platforms and devices are made, changed and deleted', async () => {
  const vapid = vapidCredential()
  const settings = JSON.stringify({ principal: vapid.PlatformPrincipal, subject: vapid.WebPushSubject })
  const credential = vapid.PlatformCredential
  const set = ['apps', 'set', 'WEBPUSH/shop', '--from', settings, '--credential', '-']
  expect(await fantail([...set, '--quiet'], credential)).toMatchObject({ code: 0, stdout: 'WEBPUSH/shop\n' })
  expect(await fantail([...set, '--json'], credential)).toMatchObject({ code: 0, stderr: '' })
  const shop = { platform: 'WEBPUSH', name: 'shop' }
  expect(await objects('apps list')).toMatchObject([shop])
  expect(await objects('apps get WEBPUSH/shop')).toMatchObject([shop])

  expect((await fantail('endpoints add WEBPUSH/shop nonsense')).code).toBe(2)
  const { token } = browserSubscription('http://127.0.0.1:9/device')
  const [device] = await objects<{ id: string }>('endpoints add WEBPUSH/shop - --user-data seven', token)
  const id = device?.id
  expect(await objects('endpoints list WEBPUSH/shop')).toEqual([device])
  expect(await objects(`endpoints get WEBPUSH/shop ${id}`)).toEqual([device])
  expect(await objects(`endpoints set WEBPUSH/shop ${id} --set enabled:=false`)).toMatchObject([
    { id, enabled: false, userData: 'seven' },
  ])
  expect(await objects(`endpoints rm WEBPUSH/shop ${id} --yes`)).toEqual([{ deleted: id }])
  expect(await objects('apps rm WEBPUSH/shop --yes')).toEqual([{ deleted: 'WEBPUSH/shop' }])
  expect((await fantail('apps get shop')).stderr).toContain('PLATFORM/NAME')
})

test('a customer is bounded, and no longer', async () => {
  await stack().client.put('/v1/topics/bounded-a')
  await objects('quotas set bounded- --topics 1 --stored-bytes 1000')
  expect(await objects('quotas set bounded- --stored-bytes none')).toMatchObject([
    { prefix: 'bounded-', topics: 1, storedBytes: null, used: { topics: 1 } },
  ])
  expect(await objects('quotas list')).toMatchObject([{ prefix: 'bounded-' }])
  expect((await fantail('quotas list')).stdout).toMatch(/^NAMES .*\nbounded-… +1 of 1 +0 of any +0 of any/)
  expect((await fantail('topics create bounded-b')).stderr).toContain('bounded- have as many topics')
  expect(await objects('quotas rm bounded- --yes')).toEqual([{ deleted: 'bounded-' }])
})

test('addresses are suppressed and released', async () => {
  await objects('suppressions add reader@example.com --reason complaint')
  expect(await objects('suppressions list')).toMatchObject([
    { address: 'reader@example.com', reason: 'complaint' },
  ])
  expect(await objects('suppressions rm reader@example.com --yes')).toHaveLength(1)
  const bounces = JSON.stringify({ bounces: [{ address: 'gone@example.com', status: '5.1.1' }] })
  expect(await objects('suppressions import -', bounces)).toMatchObject([{ suppressed: 1 }])
})

test('the quarantine is listed, exported, put back and deleted', async () => {
  await stack().client.put('/v1/topics/torn')
  const quarantine = new Quarantine(stack().connection)
  const topicArn = 'arn:aws:sns:us-east-1:000000000000:torn'
  const publishedAt = Date.now()
  const message = { messageId: createMessageId(publishedAt), topicArn, publishedAt, message: 'again' }
  for (const [id, raw] of [
    ['whole', messageBody(message)],
    ['torn', '{"v":1'],
  ] as const) {
    await quarantine.add({ id, reason: 'jobUnreadable', detail: 'no JSON', raw })
  }
  expect((await objects('quarantine list')).map(({ id }) => id).toSorted()).toEqual(['torn', 'whole'])
  expect(await objects('quarantine export torn')).toMatchObject([{ id: 'torn', text: '{"v":1' }])
  expect(await objects('quarantine put-back whole')).toEqual([{ messages: 1, deliveries: 0 }])
  expect((await fantail('quarantine put-back torn')).code).not.toBe(0)
  expect(await objects('quarantine rm torn --yes')).toEqual([{ deleted: 'torn' }])
  expect(await objects('quarantine list')).toEqual([])
  expect((await fantail('quarantine export 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21')).code).toBe(3)
})

test('a shell completes commands, flags and names', async () => {
  await stack().client.put('/v1/topics/comets')
  const words = async (...given: string[]) =>
    (await fantail(['completion', 'words', '--', ...given])).stdout.split('\n')
  expect(await words('to')).toEqual(['topics', ''])
  expect(await words('topics', 'c')).toEqual(['create', ''])
  expect(await words('publish', '--id')).toEqual(['--idempotency-key', ''])
  // A completion waits only a short time for names, so a busy machine may offer none at first.
  await waitFor(async () => (await words('topics', 'get', 'come')).includes('comets'))
  const { stdout: script } = await fantail('completion bash')
  expect(script).toContain('complete -o default -F _fantail fantail')
  const typed = `fantail() { node infra/bin/fantail.mjs "$@"; }; COMP_WORDS=(fantail topics g); COMP_CWORD=2`
  const line = `${script}\n${typed}; _fantail; printf '%s' "\${COMPREPLY[@]}"`
  const bash = await promisify(execFile)('bash', ['--norc', '-c', line], { cwd: ROOT })
  expect(bash.stdout).toBe('get')
  for (const shell of ['zsh', 'fish'])
    expect((await fantail(`completion ${shell}`)).stdout).toContain('fantail completion words -- ')
  expect((await fantail('completion tcsh')).code).toBe(2)
})

provesCommands('tests/cli/operating-commands.test.ts')
