/** Providers with HTTP interfaces: a function, a stream, a sender of text messages, and a push provider. */
import type { ReceivedRequest, Receiver, Reply } from '@fantail/test-kit'
import type { ProviderFault } from './provider-faults.ts'
import type { ProviderRecord } from './provider-record.ts'

export const FUNCTION_PATH = '/function'
export const STREAM_PATH = '/stream'
export const SMS_PATH = '/sms'
export const PUSH_TOKEN_PATH = '/token'
const PUSH_PATH = /^\/v1\/projects\/[^/]+\/messages:send$/

const HANGS: Reply = { hang: 'beforeHeaders' }
const NONSENSE: Reply = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>!</h1>' }
const AWS_ERROR = (status: number, name: string): Reply => ({
  status,
  headers: { 'x-amzn-errortype': name },
  body: JSON.stringify({ __type: name, message: name }),
})

interface HttpProvider {
  matches(request: ReceivedRequest): boolean
  textOf(request: ReceivedRequest): string
  taken: Reply
  faults: Record<ProviderFault, Reply>
}

export const HTTP_PROVIDERS: Record<'function' | 'sms' | 'push', HttpProvider> = {
  function: {
    matches: ({ path }) => path === FUNCTION_PATH,
    textOf: ({ text }) => JSON.parse(text).Records[0].Sns.Message,
    taken: { status: 202 },
    faults: {
      fails: { status: 503 },
      throttles: AWS_ERROR(429, 'TooManyRequestsException'),
      hangs: HANGS,
      resets: { reset: true },
      nonsense: NONSENSE,
      refuses: AWS_ERROR(404, 'ResourceNotFoundException'),
      expires: AWS_ERROR(403, 'ExpiredTokenException'),
    },
  },
  sms: {
    matches: ({ path }) => path === SMS_PATH,
    textOf: ({ text }) => JSON.parse(text).text,
    taken: { status: 200 },
    faults: {
      fails: { status: 503 },
      throttles: { status: 429, headers: { 'retry-after': '2' } },
      hangs: HANGS,
      resets: { reset: true },
      nonsense: NONSENSE,
      refuses: { status: 400 },
      expires: { status: 401 },
    },
  },
  push: {
    matches: ({ path }) => PUSH_PATH.test(path),
    textOf: ({ text }) => JSON.parse(text).message.data.default,
    taken: { status: 200, body: '{"name":"projects/chaos/messages/1"}' },
    faults: {
      fails: { status: 503 },
      throttles: { status: 429, headers: { 'retry-after': '2' } },
      hangs: HANGS,
      resets: { reset: true },
      nonsense: NONSENSE,
      refuses: { status: 400, body: '{"error":{"status":"INVALID_ARGUMENT"}}' },
      expires: { status: 401, body: '{"error":{"status":"UNAUTHENTICATED"}}' },
    },
  },
}

/** `isHung`: whether this provider answers nothing at all now. */
export function answerAs(
  receiver: Receiver,
  { matches, textOf, taken, faults }: HttpProvider,
  { record, isHung }: { record: ProviderRecord; isHung: () => boolean },
): void {
  receiver.respond(matches, (request) => {
    const text = textOf(request)
    record.requested.add(text)
    if (isHung()) return HANGS
    const fault = record.faults.next(text)
    if (fault) return faults[fault]
    record.took(text)
    return taken
  })
}

/** A fault of a single record becomes the result of that record. All other faults concern the whole request. */
const RECORD_ERRORS: Partial<Record<ProviderFault, string>> = {
  fails: 'InternalFailure',
  throttles: 'ServiceUnavailableException',
}
const REQUEST_FAULTS: Partial<Record<ProviderFault, Reply>> = {
  hangs: HANGS,
  resets: { reset: true },
  nonsense: { status: 200, body: 'OK' },
  expires: AWS_ERROR(400, 'ExpiredTokenException'),
}

/** A stream never refuses a single record permanently. */
export function answerAsStream(
  receiver: Receiver,
  { record, isHung }: { record: ProviderRecord; isHung: () => boolean },
): void {
  receiver.respond(STREAM_PATH, ({ text }) => {
    const texts = streamTexts(text)
    for (const one of texts) record.requested.add(one)
    if (isHung()) return HANGS
    const faults = texts.map((one) => record.faults.next(one))
    const whole = faults.map((fault) => fault && REQUEST_FAULTS[fault]).find((reply) => reply !== undefined)
    if (whole) return whole
    const answers = texts.map((one, i) => {
      const error = RECORD_ERRORS[faults[i] ?? 'refuses']
      if (error !== undefined) return { ErrorCode: error, ErrorMessage: error }
      record.took(one)
      return { RecordId: `${i}` }
    })
    const failed = answers.filter((answer) => 'ErrorCode' in answer).length
    return {
      status: 200,
      body: JSON.stringify({ FailedPutCount: failed, RequestResponses: answers }),
    }
  })
}

function streamTexts(body: string): string[] {
  const { Records } = JSON.parse(body) as { Records: { Data: string }[] }
  return Records.map(({ Data }) => JSON.parse(Buffer.from(Data, 'base64').toString()).Message)
}
