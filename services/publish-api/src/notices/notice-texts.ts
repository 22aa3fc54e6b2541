/**
 * Makes notices from news: one for each type and host, whatever the number of subscriptions. If a topic would get too
 * many, the news of the remaining hosts becomes one notice for each type.
 */
import {
  NAMED_PER_NOTICE_MAX,
  Notice,
  type NoticeType,
} from '@fantail/contracts/schemas/overview/notice-schemas'
import type { z } from 'zod'
import { iso, isoOrNull } from '../http/record-views.ts'
import type { JudgedLane } from '../lanes/lane-board.ts'
import type { GivenMessage } from '../messages/read-messages.ts'

/** Notices with a host that a topic gets in a minute. Past it: one notice for each type sums up the others. */
const HOSTS_REPORTED_MAX = 80

export interface News {
  type: NoticeType
  /** '': it concerns no host. */
  host: string
  /** '': it concerns the server. */
  topicArn: string
  count: number
  lane?: JudgedLane | undefined
  since?: number | null | undefined
  /** The sentence, if it concerns the server. */
  text?: string | undefined
}

interface Telling {
  /** Epoch ms. */
  now: number
  failingMs: number
}

export function noticesOf(news: News[], telling: Telling): GivenMessage[] {
  const groups = [...Map.groupBy(news, ({ type, host }) => `${type} ${host}`).values()]
  const largest = groups.toSorted((a, b) => b.length - a.length)
  const rest = largest.slice(HOSTS_REPORTED_MAX).flat()
  const together = [...Map.groupBy(rest, ({ type }) => type).values()]
  return [...largest.slice(0, HOSTS_REPORTED_MAX), ...together].map((group) => messageOf(group, telling))
}

function messageOf(news: News[], telling: Telling): GivenMessage {
  const notice = noticeOf(news, telling)
  const text = JSON.stringify(Notice.parse(notice))
  return {
    subject: `Fantail: ${notice.type}`,
    message: JSON.stringify({ default: text, email: notice.message, sms: notice.message }),
    structure: 'json',
    attributes: { eventType: { type: 'String', value: notice.type } },
  }
}

function noticeOf(news: News[], { now, failingMs }: Telling): z.input<typeof Notice> {
  const [first] = news
  if (!first) throw new Error('a notice needs news')
  const { type } = first
  const hosts = new Set(news.map(({ host }) => host))
  const count = news.reduce((sum, { count }) => sum + count, 0)
  const lanes = news.filter(({ lane }) => lane !== undefined)
  const counted = lanes.length > 0 ? [] : news.filter(({ topicArn }) => topicArn !== '')
  const place = hosts.size > 1 ? `${hosts.size} hosts` : first.host
  return {
    type,
    at: iso(now),
    message: SENTENCES[type]({ count, place, topics: news.length, failingMs, text: first.text ?? '' }),
    host: hosts.size > 1 || first.host === '' ? null : first.host,
    count,
    subscriptions: lanes.slice(0, NAMED_PER_NOTICE_MAX).flatMap(shown),
    topics: counted
      .toSorted((a, b) => b.count - a.count)
      .slice(0, NAMED_PER_NOTICE_MAX)
      .map(({ topicArn, count }) => ({ topicArn, count })),
  }
}

function shown({ lane, since }: News): z.input<typeof Notice>['subscriptions'] {
  if (!lane) return []
  const { subscription, verdict } = lane
  const { id, topicArn, name } = subscription
  const code = verdict.code === 'fine' ? null : verdict.code
  return [{ id, topicArn, name: name ?? null, since: isoOrNull(since ?? null), verdict: code }]
}

interface Said {
  count: number
  /** A host, or how many. */
  place: string
  topics: number
  failingMs: number
  text: string
}

const SENTENCES: Record<NoticeType, (said: Said) => string> = {
  'endpoint.failing': (said) =>
    `${subscriptions(said)} ${have(said)} failed for ${some(said.failingMs / 60_000, 'minute')} or longer.`,
  'endpoint.circuitOpen': (said) => `The circuit of ${subscriptions(said)} is open.`,
  'endpoint.behind': (said) => `${subscriptions(said)} need more than an hour for the deliveries that wait.`,
  'endpoint.gone': (said) => `Fantail paused ${subscriptions(said)}, because of the answer 410 (Gone).`,
  'endpoint.disabled': (said) => `Fantail paused ${subscriptions(said)}, because attempts failed for days.`,
  'endpoint.recovered': (said) => `${subscriptions(said)} ${have(said)} recovered.`,
  'delivery.deadLettered': ({ count, topics }) =>
    `${some(count, 'message')} of ${some(topics, 'topic')} went to dead-letter queues.`,
  'quarantine.added': ({ count }) => `The quarantine got ${some(count, 'more entry', 'more entries')}.`,
  'server.memory': ({ text }) => text,
  'server.disk': ({ text }) => text,
  'server.recovered': ({ text }) => text,
}

function subscriptions({ count, place }: Said): string {
  return `${some(count, 'subscription')} at ${place}`
}

function have({ count }: Said): string {
  return count === 1 ? 'has' : 'have'
}

function some(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
