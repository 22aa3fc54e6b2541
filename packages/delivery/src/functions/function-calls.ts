/**
 * Invokes functions over HTTP by Lambda's invoke API, at AWS or at the URLs that the operator sets. Deliveries invoke
 * functions as events, without waiting for the function's result. Push consumers wait for it.
 */
import { ATTEMPT_DEADLINE_MS, type AttemptResult } from '@fantail/contracts'
import { proxyRefusal, signedBy } from '../aws/aws-call.ts'
import { timeLeft, within } from '../bounds/attempt-deadline.ts'
import { RequestQuota } from '../bounds/request-quota.ts'
import { ProvidersUnderWay, refusedBy } from '../bounds/under-way.ts'
import { failure } from '../http/attempt-failure.ts'
import type { FurtherRequest, HttpRequest, SendMoment } from '../http/http-request.ts'
import type { HttpSender } from '../http/http-sender.ts'
import { TRUSTED_ROUTE } from '../outbound/outbound-route.ts'
import { type FunctionPlace, type FunctionSettings, placeOf } from './function-places.ts'
import { INVOCATION_HEADERS, type ReadInvocation, readInvocation } from './invocation-answer.ts'

/** @limit Answer of a function that is read. Past it: the body is ignored, and only the status counts. */
const FUNCTION_ANSWER_BYTES_MAX = 262_144
/** Invocations that a process has under way at one Runtime Interface Emulator. Past it: they wait. */
const EMULATOR_INVOCATIONS_MAX = 1
/**
 * How long an event waits for a Runtime Interface Emulator. Past it: it is not sent now, and not counted. After a
 * longer wait the emulator would count as hung.
 */
const EMULATOR_WAIT_MS_MAX = 400

export interface FunctionCallsOptions {
  sender: Pick<HttpSender, 'send'> & { timeoutMs?: number | undefined }
  functions: FunctionSettings
  /** Epoch ms. A signature contains this time. */
  clock: () => number
}

export interface Invocation
  extends Pick<HttpRequest, 'timeoutMs' | 'signal' | 'earlier' | 'onRequest' | 'moment'> {
  arn: string
  /**
   * Event: the service accepts the call and runs the function later. RequestResponse: the service runs the function and
   * answers with its result.
   */
  type: 'Event' | 'RequestResponse'
  body: string
  traceparent?: string | undefined
}

/** `read`: the content of the answer, if there is an answer. */
type InvocationDone = (result: AttemptResult, read?: ReadInvocation) => void

export class FunctionCalls {
  readonly #options: FunctionCallsOptions
  readonly #underWay = new ProvidersUnderWay()
  readonly #emulators = new RequestQuota({ inAll: Number.POSITIVE_INFINITY, ofOne: EMULATOR_INVOCATIONS_MAX })

  constructor(options: FunctionCallsOptions) {
    this.#options = options
  }

  /** The reason why the settings do not allow to invoke this function, worded as `must be …`. */
  refusalOf(arn: string): string | undefined {
    if (placeOf(arn, this.#options.functions)) return undefined
    return 'must be a function that FANTAIL_FUNCTIONS or FANTAIL_AWS_TARGETS names'
  }

  /** Name of the credential with which the function is invoked, as results have it. */
  credentialOf(arn: string): string {
    return placeOf(arn, this.#options.functions)?.credential ?? credentialOfUnknown(arn)
  }

  /** Calls `done` or `again` once, and only after `invoke` has returned. Every failure is a result. */
  invoke(invocation: Invocation, done: InvocationDone, again?: (further: FurtherRequest) => void): void {
    const place = placeOf(invocation.arn, this.#options.functions)
    if (!place) setImmediate(done, unknownFunction(invocation))
    else if (place.isEmulator) void this.#sendByQuota(place, invocation, { done, again })
    else if (place.region === undefined) this.#send(place, invocation, { done, again })
    else void this.#sendSigned(place, invocation, { done, again })
  }

  async #sendSigned(place: FunctionPlace, invocation: Invocation, sending: Sending): Promise<void> {
    const timeoutMs = this.#timeoutMs(invocation)
    const startedAt = performance.now()
    const signing = within(timeoutMs, invocation.signal, this.#sign(place, invocation))
    const signed = await signedBy(place.credential, signing)
    if ('ended' in signed) return sending.done(signed.ended)
    const left = timeLeft(timeoutMs, performance.now() - startedAt)
    this.#send(place, { ...invocation, timeoutMs: left }, { ...sending, ...signed })
  }

  async #sendByQuota(place: FunctionPlace, invocation: Invocation, sending: Sending): Promise<void> {
    const timeoutMs = this.#timeoutMs(invocation)
    const startedAt = performance.now()
    const isEvent = invocation.type === 'Event' || invocation.timeoutMs === undefined
    const leave = await this.#emulators.take(place.host, isEvent ? EMULATOR_WAIT_MS_MAX : timeoutMs / 2)
    if (!leave) return sending.done(failure('service_limit', 'the emulator runs another invocation', 0))
    const left = timeLeft(timeoutMs, performance.now() - startedAt)
    this.#send(place, { ...invocation, timeoutMs: left }, { ...sending, leave })
  }

  #timeoutMs({ timeoutMs = this.#options.sender.timeoutMs }: Invocation): number {
    return timeoutMs ?? ATTEMPT_DEADLINE_MS
  }

  #send(place: FunctionPlace, invocation: Invocation, { done, again, headers, leave }: Sending): void {
    const { arn: _, type, traceparent: __, ...sending } = invocation
    // A push consumer waits for the function's result, which may take minutes, and has a limit of its own.
    const underWay = type === 'Event' ? this.#underWay.of(place.host) : undefined
    if (underWay && !underWay.begin()) {
      leave?.()
      return void setImmediate(done, refusedBy(underWay))
    }
    const end = () => {
      underWay?.end()
      leave?.()
    }
    const { moment } = sending
    const request = {
      ...sending,
      url: place.url,
      route: place.region === undefined ? TRUSTED_ROUTE : undefined,
      headers: headers ?? headersOf(invocation),
      responseHeaders: INVOCATION_HEADERS,
      responseBytesMax: FUNCTION_ANSWER_BYTES_MAX,
      // Lambda accepts an event with its status. All other answers contain what the function said.
      needsBody: type === 'RequestResponse' || place.isEmulator,
      moment: moment && endingAt(moment, end),
    }
    const ended = (result: AttemptResult) => {
      if (result.kind === 'response') underWay?.answered()
      end()
      done(...judged(result, place))
    }
    const next = (asked: FurtherRequest) => {
      end()
      again?.(asked)
    }
    this.#options.sender.send(request, ended, again && next)
  }

  async #sign({ url, region = '' }: FunctionPlace, invocation: Invocation): Promise<Record<string, string>> {
    const { functions, clock } = this.#options
    if (!functions.aws) throw new Error('AWS credentials are not set')
    const { body } = invocation
    return functions.aws.sign({
      service: 'lambda',
      region,
      url,
      headers: headersOf(invocation),
      body,
      now: clock(),
    })
  }
}

/** A request that misses its moment is not sent now, and its attempt begins again later. */
function endingAt(moment: SendMoment, end: () => void): SendMoment {
  const missed = (dialMs: number) => {
    end()
    moment.missed(dialMs)
  }
  return { isPast: () => moment.isPast(), missed }
}

interface Sending {
  done: InvocationDone
  again: ((further: FurtherRequest) => void) | undefined
  headers?: Record<string, string>
  /** Reports to the quota that an invocation at an emulator has ended. */
  leave?: () => void
}

function headersOf({ type, traceparent }: Invocation): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Fantail',
    'x-amz-invocation-type': type,
    ...(traceparent !== undefined && { traceparent }),
  }
}

function judged(result: AttemptResult, place: FunctionPlace): [AttemptResult, ReadInvocation?] {
  if (result.kind !== 'response') return [result]
  const read = readInvocation(result)
  const { statusCode, durationMs } = result
  if (read.problem === 'function') return [{ ...result, resultClass: 'retry' }, read]
  // At the operator's own URLs, a function may answer with any status.
  const ofProxy = place.region === undefined ? undefined : proxyRefusal(result, read.errorType)
  if (read.problem === undefined) return [ofProxy ?? result, read]
  return [misconfigured(place, `${statusCode} ${describeProblem(read)}`, durationMs), read]
}

/** Describes the problem that an answer names. */
export function describeProblem({ errorType = 'refused', errorMessage }: ReadInvocation): string {
  return errorMessage === undefined ? errorType : `${errorType}: ${errorMessage}`
}

function unknownFunction({ arn }: Invocation): AttemptResult {
  const detail = `neither FANTAIL_FUNCTIONS nor FANTAIL_AWS_TARGETS names ${arn}`
  return misconfigured({ credential: credentialOfUnknown(arn) }, detail)
}

function credentialOfUnknown(arn: string): string {
  return `function:${arn}`
}

/** The result if only the operator can solve the problem, with other settings or credentials. */
function misconfigured(
  { credential }: Pick<FunctionPlace, 'credential'>,
  detail: string,
  durationMs = 0,
): AttemptResult {
  return { kind: 'misconfigured', credential, detail, durationMs }
}
