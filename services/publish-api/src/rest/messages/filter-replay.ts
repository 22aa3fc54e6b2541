/** Tries a filter policy on the latest messages that a topic keeps. */
import { needScope } from '@fantail/access'
import { FantailError, type Message, type Problem, resolveTopic } from '@fantail/contracts'
import {
  FilterReplayAnswer,
  FilterReplayInput,
} from '@fantail/contracts/schemas/subscriptions/filter-policy-schemas'
import { textForProtocol } from '@fantail/delivery'
import { type BodySeals, contentIfReadable } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { iso } from '../../http/record-views.ts'
import type { FilterTrials } from '../../subscriptions/filters.ts'

/** @limit How long one request tries a filter on kept messages. Past it: the answer says how far it looked. */
const REPLAY_MS_MAX = 2_000
/** Kept messages that one read takes. Past it: the next read takes the others. */
const REPLAY_PAGE_MESSAGES = 100

type ReplayCall = Call<unknown, z.output<typeof FilterReplayInput>>
type Clause = z.output<typeof FilterReplayAnswer>['clauses'][number]

export function filterReplayRoute(
  deps: ApiDeps,
  trials: FilterTrials,
  problemsOf: (body: Record<string, unknown>) => Problem[],
): Endpoint {
  return endpoint({
    id: 'replayFilterPolicy',
    method: 'POST',
    path: '/v1/filter-policies/replay',
    tag: 'Filter policies',
    summary: 'Count the latest messages that match a filter policy',
    description:
      `Tries the policy on the messages that the topic keeps, the latest first, for at most ${REPLAY_MS_MAX / 1_000} s. ` +
      'Nothing is sent or changed. A key also needs the scope `bodies`, because the counts reveal the contents of messages.',
    body: FilterReplayInput,
    check: problemsOf,
    answers: {
      200: { description: 'How many matched, and what refused the others', schema: FilterReplayAnswer },
    },
    errors: ['not_found', 'wrong_state'],
    handle: (call) => replay(deps, trials, call),
  })
}

async function replay(deps: ApiDeps, trials: FilterTrials, { body, caller }: ReplayCall): Promise<Answer> {
  if (caller) needScope(caller, ['bodies'])
  const topicArn = resolveTopic(body.topic, deps.settings.arn)
  if ((await deps.topics.get(topicArn)) === null) throw notFound('topic')
  const tally = new Tally(body, deps.seals)
  const until = performance.now() + REPLAY_MS_MAX
  let before: string | null = null
  let kept: number | undefined
  do {
    const page = await deps.kept.page(topicArn, {
      before,
      messagesMax: Math.min(REPLAY_PAGE_MESSAGES, tally.left),
    })
    if (page === null) throw new FantailError('wrong_state', 'the topic keeps no messages')
    kept ??= page.total
    before = page.before
    for (const stored of page.bodies) {
      if (performance.now() >= until) return ok({ kept, ...tally.result('time') })
      await tally.add(stored, trials)
    }
  } while (before !== null && tally.left > 0)
  return ok({ kept, ...tally.result(tally.left > 0 ? 'ring' : 'last') })
}

class Tally {
  readonly #asked: ReplayCall['body']
  readonly #seals: BodySeals
  #looked = 0
  #tried = 0
  #matched = 0
  #oldest: number | null = null
  #clauses: Clause[] = []

  constructor(asked: ReplayCall['body'], seals: BodySeals) {
    this.#asked = asked
    this.#seals = seals
  }

  get left(): number {
    return this.#asked.last - this.#looked
  }

  async add(stored: Buffer, trials: FilterTrials): Promise<void> {
    this.#looked++
    const message = contentIfReadable(stored, this.#seals)
    if (!message) return
    const { protocol = 'http' } = this.#asked
    const text = textForProtocol(message, protocol)
    const { attributes } = message
    const tried = { filtering: this.#asked, message: text, attributes, bytes: stored.length }
    const explained = await trials.explain(tried)
    if (explained) this.#count(explained, message)
  }

  #count({ matched, clauses }: Explained, { publishedAt }: Message): void {
    this.#tried++
    if (matched) this.#matched++
    this.#oldest = Math.min(this.#oldest ?? publishedAt, publishedAt)
    if (this.#clauses.length === 0)
      this.#clauses = clauses.map(({ path, condition }) => ({ path, condition, refused: 0 }))
    for (const [i, clause] of clauses.entries()) {
      const counted = this.#clauses[i]
      if (counted && !clause.matched) counted.refused++
    }
  }

  result(ended: 'last' | 'ring' | 'time') {
    return {
      tried: this.#tried,
      matched: this.#matched,
      ended,
      oldestAt: this.#oldest === null ? null : iso(this.#oldest),
      unreadable: this.#looked - this.#tried,
      clauses: this.#clauses,
    }
  }
}

interface Explained {
  matched: boolean
  clauses: { path: string; condition: unknown[]; matched: boolean }[]
}
