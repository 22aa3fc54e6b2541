/** One path of a receiver, with its script. */
import { AnswerScript, type Reply, ScriptStep, type Step } from './answer-script.ts'
import type { RecordedRequest } from './recorded-request.ts'
import { type RequestLog, RequestView } from './request-view.ts'

export class ReceiverRoute extends RequestView {
  readonly path: string
  readonly #origin: string
  #script = new AnswerScript()
  #answeredBefore = new Map<string, number>()
  #isPerMessage = false

  constructor(origin: string, path: string, log: RequestLog) {
    super(log)
    this.path = path
    this.#origin = origin
  }

  get url(): string {
    return `${this.#origin}${this.path}`
  }

  /** Begins a new script. */
  reply(reply: Reply): ScriptStep {
    this.#script = new AnswerScript()
    this.#answeredBefore = new Map()
    return new ScriptStep(this.#script, reply)
  }

  /** Never answers. */
  hang(): ScriptStep {
    return this.reply('hang')
  }

  /** Resets the connection instead of answering. */
  reset(): ScriptStep {
    return this.reply('reset')
  }

  /** Each message begins at the first step of the script. Default: all requests to the path share the steps. */
  perMessage(): this {
    this.#isPerMessage = true
    return this
  }

  nextStep(request: RecordedRequest): Step {
    const key = this.#isPerMessage ? `${request.subscriptionId} ${request.messageId}` : ''
    const before = this.#answeredBefore.get(key) ?? 0
    this.#answeredBefore.set(key, before + 1)
    return this.#script.stepOf(before)
  }

  protected isOwn(request: RecordedRequest): boolean {
    return request.path === this.path
  }
}
