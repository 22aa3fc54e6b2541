/** Makes the requests of a schedule, and records the result of each. */
import { waitFor } from '@fantail/test-kit'
import type { Answer, ErrorBody } from '../../harness/services/rest-client.ts'
import type { Input } from '../plan/input-plan.ts'
import type { EventLog } from '../world/run-folder.ts'
import type { World } from '../world/world.ts'
import { ARCHIVE_TOPIC, archivedText, replayRequest } from './archived.ts'
import { FIFO_TOPIC, FLEETING_TOPIC, makeFleeting, TOPIC } from './chaos-topics.ts'
import { DEAD_QUEUE } from './endpoints.ts'

/** Certainly stored, certainly not stored, or unknown. */
type PublishFate = 'accepted' | 'refused' | 'unknown'

export interface Publish {
  texts: string[]
  fate: PublishFate
}

export interface FleetingPublish {
  text: string
  fate: PublishFate
  /** The topic's incarnation when the request began and when it was answered. Undefined: it was being created. */
  before: number | undefined
  after: number | undefined
}

const AGAIN_MS = 100
const CALM_TIMEOUT_MS = 120_000

export class Publishing {
  readonly publishes: Publish[] = []
  readonly fleeting: FleetingPublish[] = []
  /** To the topic with an archive: names of messages. */
  readonly archived: Publish[] = []
  /** Ids of the replays that were started. */
  readonly replays: string[] = []
  /** Accepted texts by group, in order. */
  readonly fifo = new Map<number, string[]>()
  /** Answers that no fault explains. */
  readonly wrongAnswers: string[] = []
  readonly #world: World
  readonly #events: EventLog
  /** Id of the subscription that gets replays. */
  readonly #replayed: string
  /** Requests that must run one after the other: those of a FIFO group, and those that create a topic. */
  readonly #lines = new Map<string, Promise<void>>()
  #incarnation: number | undefined

  constructor(world: World, events: EventLog, replayed: string) {
    this.#world = world
    this.#events = events
    this.#replayed = replayed
  }

  /** The latest number of the topic that is created again and again. */
  get incarnation(): number | undefined {
    return this.#incarnation
  }

  /** Resolves when the request has succeeded, however often it must be repeated. */
  async carryOut(input: Input): Promise<void> {
    switch (input.do) {
      case 'publish':
        await this.#publishPlain(input)
        break
      case 'publish-fleeting': {
        const before = this.#incarnation
        const { fate } = await this.#publish(input.api, FLEETING_TOPIC, [{ message: input.text }])
        this.fleeting.push({ text: input.text, fate, before, after: this.#incarnation })
        break
      }
      case 'publish-fifo':
        await this.#inLine(`group ${input.group}`, () => this.#publishFifo(input))
        break
      case 'remake':
        await this.#inLine('fleeting', () => this.#remake(input))
        break
      case 'redrive': {
        const { perSecond } = input
        const body = { source: DEAD_QUEUE, ...(perSecond !== null && { maxMessagesPerSecond: perSecond }) }
        // The API refuses this while the last redrive has not ended.
        await this.#call(input.api, 'POST', '/v1/redrives', body)
        break
      }
      case 'publish-archived': {
        const message = archivedText(input.name)
        const { fate } = await this.#publish(input.api, ARCHIVE_TOPIC, [{ message }])
        this.archived.push({ texts: [input.name], fate })
        break
      }
      case 'replay': {
        const { path, body } = replayRequest(this.#replayed, input.perSecond)
        const answer = await this.#call(input.api, 'POST', path, body)
        if (answer && answer.status < 300) this.replays.push((answer.body as { id: string }).id)
        break
      }
    }
  }

  async #publishPlain({ api, messages, key }: Extract<Input, { do: 'publish' }>): Promise<void> {
    const inputs = messages.map(({ text, kind }) => ({
      message: text,
      attributes: { kind },
      groupId: kind,
    }))
    const publish = { texts: messages.map(({ text }) => text), fate: 'unknown' as PublishFate }
    this.publishes.push(publish)
    if (key === undefined) {
      publish.fate = (await this.#publish(api, TOPIC, inputs)).fate
      return
    }
    let other = api
    const isAccepted = async () => {
      const { fate } = await this.#publish(other, TOPIC, inputs, key)
      other = other === 0 ? 1 : 0
      return fate === 'accepted'
    }
    await this.#again(`${key} to be accepted`, isAccepted)
    publish.fate = 'accepted'
  }

  #inLine(name: string, act: () => Promise<void>): Promise<void> {
    const next = (this.#lines.get(name) ?? Promise.resolve()).then(act)
    this.#lines.set(name, next)
    return next
  }

  async #publishFifo({ api, group, texts }: Extract<Input, { do: 'publish-fifo' }>): Promise<void> {
    const messages = texts.map((text) => ({ message: text, groupId: `g${group}`, deduplicationId: text }))
    const isAccepted = async () => (await this.#publish(api, FIFO_TOPIC, messages)).fate === 'accepted'
    await this.#again(`group ${group} to be accepted`, isAccepted)
    const accepted = this.fifo.get(group) ?? []
    this.fifo.set(group, [...accepted, ...texts])
  }

  async #remake({ api, incarnation }: Extract<Input, { do: 'remake' }>): Promise<void> {
    this.#incarnation = undefined
    const step = async (method: string, path: string, body?: unknown) => {
      const tryOnce = async () => {
        const answer = await this.#call(api, method, path, body)
        return isDone(method, answer) ? answer : undefined
      }
      return this.#again(`${method} ${path}`, tryOnce)
    }
    await step('DELETE', `/v1/topics/${FLEETING_TOPIC}`)
    await makeFleeting(step, this.#world.receiver.url, incarnation)
    this.#events.note({ event: 'remade', incarnation })
    this.#incarnation = incarnation
  }

  #again<T>(what: string, act: () => Promise<T>): Promise<NonNullable<T>> {
    return waitFor(act, { what, timeoutMs: CALM_TIMEOUT_MS, intervalMs: AGAIN_MS })
  }

  async #publish(
    api: 0 | 1,
    topic: string,
    messages: object[],
    key?: string,
  ): Promise<{ fate: PublishFate }> {
    if (!this.#world.isUp(api)) return { fate: 'refused' }
    const path = `/v1/topics/${topic}/messages`
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    try {
      const answer = await this.#world.clients[api].call('POST', path, { body: { messages }, headers })
      const fate = fateOf(answer)
      this.#noteAnswer('POST', path, answer)
      this.#events.note({ event: 'published', api, topic, messages, key, fate, ...reasonOf(answer) })
      return { fate }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // No process was listening, so the request was never sent.
      const fate = code === 'ECONNREFUSED' ? 'refused' : 'unknown'
      this.#events.note({ event: 'published', api, topic, messages, key, fate, code })
      return { fate }
    }
  }

  async #call(api: 0 | 1, method: string, path: string, body?: unknown): Promise<Answer | undefined> {
    if (!this.#world.isUp(api)) return undefined
    const answer = await this.#world.clients[api].call(method, path, { body }).catch(() => undefined)
    this.#events.note({ event: 'called', api, method, path, status: answer?.status })
    if (answer) this.#noteAnswer(method, path, answer)
    return answer
  }

  #noteAnswer(method: string, path: string, { status, body }: Answer): void {
    if (status === 500) this.wrongAnswers.push(`${method} ${path}: ${JSON.stringify(body)}`)
  }
}

/** A topic that is already gone counts as deleted. */
function isDone(method: string, answer: Answer | undefined): boolean {
  if (!answer) return false
  return answer.status < 300 || (method === 'DELETE' && answer.status === 404)
}

function fateOf({ status, body }: Answer): PublishFate {
  if (status === 202) return 'accepted'
  return /may or may not|may be lost/.test((body as ErrorBody).error.message) ? 'unknown' : 'refused'
}

function reasonOf({ status, body }: Answer): object {
  return status === 202 ? {} : { status, error: (body as ErrorBody).error.message }
}
