/** Makes attempts at webhooks. An attempt makes one request, and repeats it after a reset or a challenge. */
import { type AttemptRequestOptions, renderRequest } from '../envelope/attempt-request.ts'
import type { Target } from '../envelope/target.ts'
import type { Again } from '../http/http-request.ts'
import type { HttpSender } from '../http/http-sender.ts'
import type { Attempt, AttemptDone, Attempter } from './attempter.ts'

export interface WebhookAttempterOptions
  extends Pick<AttemptRequestOptions, 'vault' | 'clock' | 'userAgent'> {
  sender: Pick<HttpSender, 'send' | 'openAhead'>
}

export class WebhookAttempter implements Attempter {
  readonly #options: WebhookAttempterOptions

  constructor(options: WebhookAttempterOptions) {
    this.#options = options
  }

  openAhead(target: Target): void {
    if (target.locked === undefined) this.#options.sender.openAhead(target)
  }

  attempt(attempt: Attempt, done: AttemptDone, again?: (again: Again) => void): void {
    const { envelope, target, traceparent, textBytesMax, keepAnswer, trace, after, onRequest, moment } =
      attempt
    const { vault, clock, userAgent, sender } = this.#options
    const request = renderRequest(envelope, target, { vault, clock, traceparent, userAgent })
    if ('kind' in request) {
      setImmediate(done, request)
      return
    }
    const { url, route, memo, headers, body } = request
    // Written out, because a spread that is not the first member takes a slow path of V8.
    sender.send(
      { url, route, memo, headers, body, textBytesMax, keepAnswer, trace, after, onRequest, moment },
      done,
      again,
    )
  }

  /** Does nothing. Push consumers use the same sender, and its creator closes it. */
  async close(): Promise<void> {}
}
