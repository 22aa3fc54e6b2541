/**
 * Calls to AWS for one region: bounded, repeated while AWS throttles, and counted. A call that AWS does not allow is
 * noted, so that the plan can say what is missing because of it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { CommandError } from '../../../output/exit-codes.ts'
import type { AwsSource } from './aws-source.ts'

/** Attempts of a call that AWS throttles. Past it: the import ends. */
const THROTTLED_ATTEMPTS_MAX = 12
/** The wait before another attempt, at random. Each attempt doubles it. Past it: it does not grow. */
const THROTTLED_WAIT_MS_MAX = 20_000
const FIRST_THROTTLED_WAIT_MS = 200
/** AWS throttles each kind of call by itself. The adaptive mode of the SDK would slow down all of them. */
const THROTTLED = /^(Throttl|TooManyRequests|RequestLimitExceeded|RequestThrottled|SlowDown)/

/** The credentials are wrong, so that no other call can succeed. */
const CREDENTIALS =
  /^(ExpiredToken|IncompleteSignature|InvalidClientTokenId|InvalidSignature|MissingAuthenticationToken|SignatureDoesNotMatch|UnrecognizedClient|CredentialsProviderError|TokenProviderError)/
/** This call alone cannot succeed. An emulator may lack an operation. */
const REFUSED =
  /^(AccessDenied|AuthorizationError|NotAuthorized|UnauthorizedOperation|OptInRequired|InvalidAction|UnknownOperation|UnsupportedOperation|NotImplemented|AWS\.SimpleQueueService\.UnsupportedOperation)/
/** The code of an answer that the SDK cannot read, such as an emulator's. */
export const UNREADABLE = 'UnreadableAnswer'
/** It was deleted meanwhile. */
const GONE = /NotFound|NonExistentQueue|QueueDoesNotExist|ResourceNotFound/

export class AwsCalls {
  readonly #unread: AwsSource['unread'] = []
  readonly #gone = new Set<string>()
  readonly #signal: AbortSignal
  readonly #onCall: () => void

  constructor({ signal, onCall }: { signal: AbortSignal; onCall: () => void }) {
    this.#signal = signal
    this.#onCall = onCall
  }

  get unread(): AwsSource['unread'] {
    return this.#unread
  }

  /** Whether this call was told that the object does not exist. */
  isGone(call: string, object: string): boolean {
    return this.#gone.has(`${call} ${object}`)
  }

  /** undefined: AWS refused this call, or the object is gone. Throws on every other failure. */
  async ask<T>(call: string, object: string | undefined, send: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#patiently(send)
    } catch (error) {
      const { name = '', message = '' } = error as Error
      if (GONE.test(name) && object !== undefined) {
        this.#gone.add(`${call} ${object}`)
        return undefined
      }
      const code = isUnreadable(error) ? UNREADABLE : name
      if (code === name && !REFUSED.test(name)) throw failureOf(error, call, { name, message })
      this.#note(call, code.replace(/Exception$/, ''), object)
      return undefined
    } finally {
      this.#onCall()
    }
  }

  async #patiently<T>(send: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send()
      } catch (error) {
        if (attempt >= THROTTLED_ATTEMPTS_MAX || !THROTTLED.test((error as Error).name)) throw error
        const waitMs = Math.min(FIRST_THROTTLED_WAIT_MS * 2 ** attempt, THROTTLED_WAIT_MS_MAX) * Math.random()
        await delay(waitMs, undefined, { signal: this.#signal })
      }
    }
  }

  #note(call: string, code: string, object: string | undefined): void {
    const objects = object === undefined ? [] : [object]
    const known = this.#unread.find((other) => other.call === call && other.code === code)
    if (known) known.objects.push(...objects)
    else this.#unread.push({ call, code, objects })
  }
}

/** An emulator that lacks an operation may answer with a page of HTML. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && '$response' in error && !('$fault' in error)
}

function failureOf(
  error: unknown,
  call: string,
  { name, message }: { name: string; message: string },
): unknown {
  if ((error as { name?: string }).name === 'AbortError') return error
  const text = `AWS, ${call}: ${message || name}`
  if (!CREDENTIALS.test(name)) return new CommandError('failed', text)
  return new CommandError(
    'refused',
    text,
    'The command uses the credentials of the AWS SDK (AWS_PROFILE, AWS_ACCESS_KEY_ID, …).',
  )
}
