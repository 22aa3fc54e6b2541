/**
 * The names of topics, subscriptions and queues, and the search for words in them. There is no index: the names are
 * read as a whole, which many callers share (shared-read.ts). While nobody searches, nothing is read.
 */
import { type Caller, isVisible } from '@fantail/access'
import { nameOfArn, type QueueRecord, type SubscriptionRecord } from '@fantail/contracts'
import type { NamesAnswer } from '@fantail/contracts/schemas/overview/name-schemas'
import type { Queues, Subscriptions, Topics } from '@fantail/store'
import type { z } from 'zod'
import { hostOf } from '../lanes/rank-lanes.ts'

/** @limit Topics, subscriptions and queues whose names are searched, of each. Past it: the answer says so. */
export const SEARCHED_NAMES_MAX = 20_000
const NAMES_PER_PAGE = 200

type FoundName = z.input<typeof NamesAnswer>['found'][number]

export interface Named {
  found: FoundName
  /** ARNs of topics and queues. Callers who see one of them see the name. None: a key. */
  of: string[]
  /** Texts in small letters that are searched, and how much each counts. */
  texts: [text: string, weight: number][]
  metadata?: Record<string, string>
  /** The dead-letter queue of a queue. Absent: it has none. */
  target?: string
}

export interface Names {
  topics: Named[]
  subscriptions: Named[]
  queues: Named[]
  isComplete: boolean
}

interface Lists {
  topics: Pick<Topics, 'list'>
  subscriptions: Pick<Subscriptions, 'list'>
  queues: Pick<Queues, 'list'>
}

export async function readNames({ topics, subscriptions, queues }: Lists): Promise<Names> {
  const [ofTopics, ofSubscriptions, ofQueues] = await Promise.all([
    readAll(
      (page) => topics.list(page),
      ({ arn }) => namedTopic(arn),
    ),
    readAll((page) => subscriptions.list(page), namedSubscription),
    readQueues(queues),
  ])
  return {
    topics: ofTopics.names,
    subscriptions: ofSubscriptions.names,
    queues: ofQueues.names,
    isComplete: [ofTopics, ofSubscriptions, ofQueues].every(({ isWhole }) => isWhole),
  }
}

/** The queues as they are now. */
export function readQueues(queues: Lists['queues']): Promise<{ names: Named[]; isWhole: boolean }> {
  return readAll((page) => queues.list(page), namedQueue)
}

type ReadPage<Item> = (page: { limit: number; cursor?: string }) => Promise<{
  items: Item[]
  nextCursor: string | null
}>

async function readAll<Item>(read: ReadPage<Item>, nameOf: (item: Item) => Named) {
  const names: Named[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await read({ limit: NAMES_PER_PAGE, ...(cursor !== undefined && { cursor }) })
    names.push(...page.items.map(nameOf))
    if (page.nextCursor === null) return { names, isWhole: true }
    if (names.length >= SEARCHED_NAMES_MAX) return { names, isWhole: false }
    cursor = page.nextCursor
  }
}

const [OWN_NAME, OTHER_NAME, DETAIL] = [4, 2, 1]
const NOTHING_MORE = { topic: null, host: null }

function namedTopic(arn: string): Named {
  const name = nameOfArn(arn)
  const found = { kind: 'topic' as const, id: name, name, arn, ...NOTHING_MORE }
  return { found, of: [arn], texts: [[name.toLowerCase(), OWN_NAME]] }
}

function namedQueue({ arn, deadLettersOf, redrivePolicy }: QueueRecord): Named {
  const name = nameOfArn(arn)
  const found = { kind: 'queue' as const, id: name, name, arn, ...NOTHING_MORE }
  const of = deadLettersOf === undefined ? [arn] : [arn, deadLettersOf]
  const target = redrivePolicy?.deadLetterTargetArn
  return { found, of, texts: [[name.toLowerCase(), OWN_NAME]], ...(target !== undefined && { target }) }
}

function namedSubscription(record: SubscriptionRecord): Named {
  const { id, arn, topicArn, name = null, metadata = {} } = record
  const [topic, host] = [nameOfArn(topicArn), hostOf(record)]
  const members = Object.entries(metadata).map(([key, value]) => `${key}:${value}`)
  return {
    found: { kind: 'subscription', id, arn, name, topic, host },
    of: [topicArn],
    texts: [
      ...(name === null ? [] : [[name.toLowerCase(), OWN_NAME] satisfies [string, number]]),
      [topic.toLowerCase(), OTHER_NAME],
      [host.toLowerCase(), OTHER_NAME],
      [members.join(' ').toLowerCase(), DETAIL],
      [id, DETAIL],
    ],
    metadata,
  }
}

export function isNameVisible(caller: Caller, { of }: Named): boolean {
  return of.length === 0 || of.some((arn) => isVisible(caller, arn))
}

/** The names in which all words are, the best first. */
export function rankNames(names: readonly Named[], text: string): FoundName[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const scored = names.flatMap(({ found, texts }) => {
    const scores = words.map((word) => bestScore(texts, word))
    return scores.includes(0) ? [] : [{ found, score: scores.reduce((sum, score) => sum + score, 0) }]
  })
  const labelOf = ({ name, id }: FoundName) => name ?? id
  scored.sort((a, b) => {
    const [one, other] = [labelOf(a.found), labelOf(b.found)]
    return b.score - a.score || one.length - other.length || (one < other ? -1 : 1)
  })
  return scored.map(({ found }) => found)
}

function bestScore(texts: Named['texts'], word: string): number {
  return texts.reduce((best, [text, weight]) => Math.max(best, weight * scoreIn(text, word)), 0)
}

/** A whole text counts most, then its beginning, the beginning of a word in it, and any other place. */
function scoreIn(text: string, word: string): number {
  if (text === word) return 4
  const at = text.indexOf(word)
  if (at <= 0) return at === 0 ? 3 : 0
  return /[\p{L}\p{N}]/u.test(text[at - 1] ?? '') ? 1 : 2
}
