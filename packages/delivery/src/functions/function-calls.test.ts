/** Invokes functions at servers on loopback, and compares the requests with those of the AWS SDK. */
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import type { AttemptResult } from '@fantail/contracts'
import { type Receiver, type Reply, type Responder, startReceiver } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import { AwsSigner } from '../aws/aws-signer.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { createTestSender } from '../http/http-sender.fixture.ts'
import { FunctionCalls, type Invocation } from './function-calls.ts'
import type { FunctionSettings } from './function-places.ts'
import { FUNCTION_ARN, TEST_CREDENTIALS } from './functions.fixture.ts'

const NOW = Date.UTC(2026, 10, 22, 10)
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function startFunction(reply: Reply | Responder): Promise<Receiver> {
  const receiver = await startReceiver()
  receiver.respond(() => true, reply)
  closers.push(() => receiver.close())
  return receiver
}

/** Function calls that refuse private addresses, as in server mode. */
function calls(functions: FunctionSettings, deny: string[] = []): FunctionCalls {
  const sender = createTestSender({ allowPrivate: false, deny, timeoutMs: 5_000 })
  closers.push(() => sender.close(0))
  return new FunctionCalls({ sender, functions, clock: () => NOW })
}

function invoke(of: FunctionCalls, set: Partial<Invocation> = {}): Promise<AttemptResult> {
  const invocation = { arn: FUNCTION_ARN, type: 'Event', body: '{"Records":[]}', ...set } as const
  return new Promise((resolve) => of.invoke(invocation, (result) => resolve(result)))
}

test('[347] a mapped function gets the event by Lambda’s invoke API, also at a private address', async () => {
  const { url, requests } = await startFunction({ status: 202, headers: { 'x-amzn-RequestId': 'r-1' } })
  const result = await invoke(calls({ functions: { hello: url } }), { arn: `${FUNCTION_ARN}:live` })
  expect(result).toMatchObject({ kind: 'response', statusCode: 202, headers: { 'x-amzn-requestid': 'r-1' } })
  expect(requests).toMatchObject([
    {
      method: 'POST',
      path: '/2015-03-31/functions/hello/invocations?Qualifier=live',
      text: '{"Records":[]}',
      headers: {
        'content-type': 'application/json',
        'x-amz-invocation-type': 'Event',
        'user-agent': 'Fantail',
      },
    },
  ])
  expect(requests[0]?.headers).not.toHaveProperty('authorization')
})

test('the list of denied addresses holds for mapped functions, too', async () => {
  const { url, requests } = await startFunction({})
  const result = await invoke(calls({ functions: { hello: url } }, ['127.0.0.0/8']))
  expect(result).toMatchObject({ kind: 'failure', error: 'forbidden_address' })
  expect(requests).toEqual([])
})

test('[354] a function that failed while its caller waited is retried', async () => {
  const { url } = await startFunction({ body: '{"errorType":"TypeError","errorMessage":"x"}' })
  const result = await invoke(calls({ functions: { '*': url } }))
  expect(result).toMatchObject({ statusCode: 200, resultClass: 'retry' })
})

const EMULATED = '/2015-03-31/functions/function/invocations'

test('[353] a Runtime Interface Emulator gets one invocation at a time, events and batches of queues alike', async () => {
  let [running, atOnceMax] = [0, 0]
  const reply: Responder = async () => {
    atOnceMax = Math.max(atOnceMax, ++running)
    await new Promise((resolve) => setTimeout(resolve, 5))
    running--
    return {}
  }
  const { url, requests } = await startFunction(reply)
  const other = await startFunction({})
  const functions = {
    hello: `${url}${EMULATED}`,
    same: `${url}${EMULATED}`,
    other: `${other.url}${EMULATED}`,
  }
  const of = calls({ functions })
  const arn = (name: string) => FUNCTION_ARN.replace('hello', name)
  const types = ['Event', 'RequestResponse'] as const
  const results = await Promise.all([
    ...[0, 1, 2, 3, 4, 5].map((n) =>
      invoke(of, { arn: arn(n % 3 ? 'hello' : 'same'), type: types[n % 2] ?? 'Event' }),
    ),
    invoke(of, { arn: arn('other') }),
  ])
  expect(results.map((result) => result.kind)).toEqual(Array(7).fill('response'))
  expect([requests.length, atOnceMax]).toEqual([6, 1])
})

test('[353] an event for an emulator that is busy for long is not sent, and counts as no attempt', async () => {
  const released = Promise.withResolvers<void>()
  const { url, requests } = await startFunction({ until: released.promise })
  const of = calls({ functions: { '*': `${url}${EMULATED}` } })
  const first = invoke(of)
  expect(await invoke(of)).toMatchObject({ kind: 'failure', error: 'service_limit', permanent: false })
  released.resolve()
  expect(await first).toMatchObject({ kind: 'response' })
  expect(await invoke(of)).toMatchObject({ kind: 'response' })
  expect(requests).toHaveLength(2)
})

test.each([200, 404, 429, 503])('the status %i stands', async (status) => {
  const { url } = await startFunction({ status, headers: { 'retry-after': '7' } })
  const result = await invoke(calls({ functions: { hello: url } }))
  expect(result).toMatchObject({ kind: 'response', statusCode: status })
  expect(result).not.toHaveProperty('resultClass')
  expect(result.kind === 'response' && result.retryAfterSeconds).toBe(status > 200 ? 7 : undefined)
})

test.each([302, 404])(
  'a %i of AWS that names no error comes from a proxy, and is retried',
  async (status) => {
    const answer = { kind: 'response', statusCode: status, durationMs: 1, retryAfterSeconds: 7 } as const
    const send = (_: HttpRequest, done: (result: AttemptResult) => void) => void setImmediate(done, answer)
    const aws = new AwsSigner({ credentials: TEST_CREDENTIALS, targets: [FUNCTION_ARN] })
    const atAws = new FunctionCalls({ sender: { send }, functions: { aws }, clock: () => NOW })
    const refused = { kind: 'failure', error: 'invalid_response', permanent: false, retryAfterSeconds: 7 }
    expect(await invoke(atAws)).toMatchObject(refused)
  },
)

test('credentials that do not come end the attempt at its deadline, and nothing is sent', async () => {
  const { promise: never } = Promise.withResolvers<Record<string, string>>()
  const sent: HttpRequest[] = []
  const sender = { send: (request: HttpRequest) => void sent.push(request), timeoutMs: 20 }
  const aws = Object.assign(new AwsSigner({ credentials: TEST_CREDENTIALS, targets: [FUNCTION_ARN] }), {
    sign: () => never,
  })
  const of = new FunctionCalls({ sender, functions: { aws }, clock: () => NOW })
  const late = { kind: 'failure', error: 'timeout', detail: expect.stringContaining('no answer within') }
  expect(await invoke(of)).toMatchObject(late)
  expect(await invoke(of, { type: 'RequestResponse', timeoutMs: 30 })).toMatchObject(late)
  const off = AbortSignal.abort()
  expect(await invoke(of, { type: 'RequestResponse', signal: off })).toMatchObject({
    kind: 'failure',
    detail: 'no credentials before it was called off',
  })
  expect(sent).toEqual([])
})

test('a wait for the emulator counts against the deadline, and few time-outs differ', async () => {
  const sent: HttpRequest[] = []
  const answer = { kind: 'response', statusCode: 200, durationMs: 1 } as const
  const send = (request: HttpRequest, done: (result: AttemptResult) => void) => {
    sent.push(request)
    setTimeout(done, 20, answer)
  }
  const functions = { hello: 'http://127.0.0.1:9/2015-03-31/functions/function/invocations' }
  const of = new FunctionCalls({ sender: { send }, functions: { functions }, clock: () => NOW })
  const all = Array.from({ length: 10 }, () => invoke(of, { type: 'RequestResponse', timeoutMs: 2_000 }))
  expect(new Set((await Promise.all(all)).map(({ kind }) => kind))).toEqual(new Set(['response']))
  const timeouts = sent.map(({ timeoutMs }) => timeoutMs ?? 0)
  expect(timeouts.every((ms) => ms % 100 === 0)).toBe(true)
  expect([timeouts[0], (timeouts.at(-1) ?? 0) < 2_000]).toEqual([2_000, true])
})

test('refused credentials are a fault of ours, under the name of their place', async () => {
  const { url } = await startFunction({ status: 401 })
  const { host } = new URL(url)
  expect(await invoke(calls({ functions: { hello: url } }))).toMatchObject({
    kind: 'misconfigured',
    credential: `functions:${host}/2015-03-31/functions/hello/invocations`,
    detail: '401 refused',
  })
})

test('a function that the settings no longer name is a fault of ours, and nothing is sent', async () => {
  const result = await invoke(calls({ functions: { other: 'http://127.0.0.1:1' } }))
  expect(result).toMatchObject({
    kind: 'misconfigured',
    credential: expect.stringContaining(FUNCTION_ARN),
  })
})

/** Captures the request that the AWS SDK would send to the function. */
async function sdkRequest(functionName: string, sessionToken?: string) {
  const sent: { path: string; headers: Record<string, string>; hostname: string; body: Uint8Array }[] = []
  const client = new LambdaClient({
    region: 'eu-west-1',
    credentials: { ...TEST_CREDENTIALS, ...(sessionToken !== undefined && { sessionToken }) },
    maxAttempts: 1,
    requestHandler: {
      handle: async (request: (typeof sent)[number]) => {
        sent.push(request)
        throw new Error('not sent')
      },
    } as never,
  })
  const command = new InvokeCommand({
    FunctionName: functionName,
    InvocationType: 'Event',
    Payload: '{"Records":[]}',
  })
  await expect(client.send(command)).rejects.toThrow('not sent')
  client.destroy()
  const [request] = sent
  if (!request) throw new Error('the SDK sent nothing')
  return request
}

/** The request that Fantail sends to the function at AWS. */
function ownRequest(arn: string, now: number, sessionToken?: string): Promise<HttpRequest> {
  const credentials = { ...TEST_CREDENTIALS, sessionToken }
  const aws = new AwsSigner({ credentials, targets: ['arn:aws:lambda:eu-west-1:123456789012:function:*'] })
  return new Promise((resolve) => {
    const sender = { send: resolve }
    const invocation = { arn, type: 'Event', body: '{"Records":[]}' } as const
    const unexpected = (result: AttemptResult) => expect(result).toBe('sent')
    new FunctionCalls({ sender, functions: { aws }, clock: () => now }).invoke(invocation, unexpected)
  })
}

const signedAt = ({ headers }: { headers: Record<string, string> }) =>
  Date.parse(String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))

test.each([FUNCTION_ARN, `${FUNCTION_ARN}:live`, `${FUNCTION_ARN}:$LATEST`])(
  '[347] the request for %s has the host and path of the SDK’s',
  async (arn) => {
    const theirs = await sdkRequest(arn)
    const ours = new URL((await ownRequest(arn, NOW)).url)
    expect([ours.host, ours.pathname, ours.search]).toEqual([theirs.hostname, theirs.path, ''])
  },
)

test.each([undefined, 'a-session-token'])(
  '[347] the SDK’s signature is ours, with the token %s',
  async (token) => {
    const theirs = await sdkRequest(`${FUNCTION_ARN}:live`, token)
    const { authorization, 'x-amz-date': _, 'x-amz-content-sha256': __, ...headers } = theirs.headers
    const credentials = { ...TEST_CREDENTIALS, sessionToken: token }
    const signer = new AwsSigner({ credentials, targets: [] })
    const signed = await signer.sign({
      service: 'lambda',
      region: 'eu-west-1',
      url: `https://${theirs.hostname}${theirs.path}`,
      headers,
      body: Buffer.from(theirs.body).toString(),
      now: signedAt(theirs),
    })
    expect(signed.authorization).toBe(authorization)
  },
)

test('[347] a request to AWS is signed for lambda in the function’s region, as an event', async () => {
  const { url, headers, body, route } = await ownRequest(`${FUNCTION_ARN}:live`, NOW, 'a-session-token')
  expect(url).toMatch(/^https:\/\/lambda\.eu-west-1\.amazonaws\.com\//)
  expect(route).toBeUndefined()
  expect(body).toBe('{"Records":[]}')
  expect(headers).toMatchObject({
    'x-amz-invocation-type': 'Event',
    'x-amz-date': '20261122T100000Z',
    'x-amz-security-token': 'a-session-token',
    authorization: expect.stringContaining('Credential=AKIDEXAMPLE/20261122/eu-west-1/lambda/aws4_request'),
  })
})

test('no function beyond the operator’s patterns is called with the credentials', async () => {
  const aws = new AwsSigner({ credentials: TEST_CREDENTIALS, targets: [`${FUNCTION_ARN}-*`] })
  const sent: HttpRequest[] = []
  const sender = { send: (request: HttpRequest) => void sent.push(request) }
  const of = new FunctionCalls({ sender, functions: { aws }, clock: () => NOW })
  expect(await invoke(of)).toMatchObject({ kind: 'misconfigured' })
  expect(of.refusalOf(FUNCTION_ARN)).toContain('FANTAIL_AWS_TARGETS')
  expect(of.refusalOf(`${FUNCTION_ARN}-2`)).toBeUndefined()
  expect(sent).toEqual([])
})
