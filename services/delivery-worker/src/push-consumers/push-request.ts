/** The request for a batch: to a webhook, or as the invocation of a function whose answer is awaited. */
import type { AttemptResult, PushConsumerRecord } from '@fantail/contracts'
import {
  compileRoute,
  describeProblem,
  type FunctionCalls,
  type HttpRequest,
  type HttpSender,
  openPushConsumer,
  QUEUE_EVENT_HEADERS,
  unopenedSecrets,
} from '@fantail/delivery'
import { parseFunctionArn } from '@fantail/policy'
import type { Vault } from '@fantail/vault'

/**
 * @limit Answer that is read for batch item failures. Past it: the answer cannot be read and the whole batch has
 * failed.
 */
const RESPONSE_BYTES_MAX = 262_144
/** The status if the function has run. Other statuses of 2xx mean that it will run later. */
const HAS_RUN = 200

export interface RequestTools {
  sender: Pick<HttpSender, 'send'>
  /** Undefined if the settings name no function. */
  functions: Pick<FunctionCalls, 'invoke'> | undefined
  /** Opens the secrets of endpoints. Undefined if there is no master key. */
  vault: Pick<Vault, 'open'> | undefined
}

interface BatchRequest {
  record: PushConsumerRecord
  body: string
  traceparent: string | undefined
  /** Ends the request in the same way as its deadline does. */
  signal: AbortSignal
}

export interface BatchReply {
  result: AttemptResult
  /** Why the batch failed, if the status does not show it. */
  failure?: string | undefined
}

/** Makes the request. It never rejects: every failure is a reply. */
export function requestBatch(tools: RequestTools, request: BatchRequest): Promise<BatchReply> {
  return parseFunctionArn(request.record.url) ? invoke(tools, request) : post(tools, request)
}

/** Invokes synchronously, because a message may be deleted only after the function has run. */
async function invoke({ functions }: RequestTools, request: BatchRequest): Promise<BatchReply> {
  const { record, body, traceparent, signal } = request
  if (!functions) {
    const detail = 'neither FANTAIL_FUNCTIONS nor FANTAIL_AWS_CREDENTIALS is set'
    return { result: { kind: 'misconfigured', credential: 'FANTAIL_FUNCTIONS', detail, durationMs: 0 } }
  }
  const timeoutMs = record.timeoutSeconds * 1_000
  const invocation = {
    arn: record.url,
    type: 'RequestResponse',
    body,
    traceparent,
    signal,
    timeoutMs,
  } as const
  const { promise, resolve } = Promise.withResolvers<BatchReply>()
  functions.invoke(invocation, (result, read) => {
    if (result.kind !== 'response' || result.statusCode !== HAS_RUN)
      resolve({ result, failure: notRun(result) })
    else resolve({ result, failure: read?.problem && describeProblem(read) })
  })
  return promise
}

function notRun(result: AttemptResult): string | undefined {
  if (result.kind !== 'response' || result.statusCode < 200 || result.statusCode > 299) return undefined
  return `answered ${result.statusCode}: the function has not run yet`
}

async function post({ sender, vault }: RequestTools, request: BatchRequest): Promise<BatchReply> {
  const { record, body, traceparent, signal } = request
  const way = wayOf(record, vault)
  if ('kind' in way) return { result: way }
  const sent = {
    ...way,
    headers: traceparent ? [...QUEUE_EVENT_HEADERS, 'traceparent', traceparent] : QUEUE_EVENT_HEADERS,
    body,
    timeoutMs: record.timeoutSeconds * 1_000,
    signal,
    ...(record.reportBatchItemFailures && { responseBytesMax: RESPONSE_BYTES_MAX, needsBody: true }),
  }
  return new Promise((resolve) => sender.send(sent, (result) => resolve({ result })))
}

/** Caches by record, because every change makes a new record. */
const WAYS = new WeakMap<PushConsumerRecord, Way>()

/** The URL with its credentials, and the settings of the connection. */
type Way = Pick<HttpRequest, 'url' | 'route' | 'memo'>

/** The URL and settings of the record. If they cannot be read, the result of the attempt says why. */
function wayOf(record: PushConsumerRecord, vault: RequestTools['vault']): Way | AttemptResult {
  const known = WAYS.get(record)
  if (known !== undefined) return known
  try {
    const { url, ...options } = openPushConsumer(record, vault)
    const way: Way = { url, route: compileRoute(options), memo: {} }
    WAYS.set(record, way)
    return way
  } catch (error) {
    return unopenedSecrets(error, `${record.queueArn} ${record.name}`)
  }
}
