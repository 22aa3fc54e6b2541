/**
 * Looks once a minute for news that operators and customers want, and publishes it to topics with the setting
 * `notices`. One API process does it at a time: the one that takes the role. If it is killed, another process takes the
 * role when its minute is over.
 *
 *   board, health, statistics ──▶ alarms that began or ended, counts of the minute
 *        ──▶ one notice for each type and host ──▶ published ──▶ written as reported (open-alarms.ts)
 *
 * A round reads what lanes and statistics hold anyway, and writes nothing into them. Without a topic that asks for it,
 * a round reads only the list of such topics.
 */
import type { NoticeType } from '@fantail/contracts/schemas/overview/notice-schemas'
import type { NamedAlarm, OpenAlarms, StatsStore, StorageHealthReader } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { JudgedLane } from '../lanes/lane-board.ts'
import { type Alarm, type Alarms, isWell, laneAlarms, serverAlarms } from './alarms.ts'
import { Audience } from './audience.ts'
import { disableEndpoints } from './disable-endpoints.ts'
import { endedAlarms } from './ended-alarms.ts'
import { type News, noticesOf } from './notice-texts.ts'
import { type NoticeTools, publishNotices } from './publish-notices.ts'
import { deadLettersIn, entriesIn, spanSince, type TopicCount } from './reported-counts.ts'

const ROUND_MS = 60_000
/** How often a process tries to take the role. */
const TRY_EVERY_MS = 10_000
/**
 * Topics with `notices` or `disableAfterDays`. Past it: the last ones by ARN are not served, and the log says so.
 */
const WATCHED_TOPICS_MAX = 2_000
/** Alarms of notices that are open at a time. Past it: further ones are reported when others have ended. */
const OPEN_ALARMS_MAX = 10_000

type WatchDeps = NoticeTools &
  Pick<ApiDeps, 'topics' | 'laneBoard' | 'subscriptions' | 'lanes' | 'quarantine' | 'topicCache' | 'log'>

interface WatchOptions {
  alarms: Pick<OpenAlarms, 'read' | 'write'>
  stats: Pick<StatsStore, 'topics' | 'read'>
  health: Pick<StorageHealthReader, 'read'>
  /** Whether this process has the role now. */
  takeRole(forMs: number): Promise<boolean>
  /** The server's own account. */
  account: string
  publicUrl: string
  /** An endpoint must fail for this long before a notice (FANTAIL_NOTICE_MINUTES). */
  failingMs: number
}

export class NoticeWatch {
  readonly #deps: WatchDeps
  readonly #options: WatchOptions

  constructor(deps: WatchDeps, options: WatchOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** Looks if this process gets the role. Resolves with the ms until the next try. */
  async round(): Promise<number> {
    if (await this.#options.takeRole(ROUND_MS)) await this.look()
    return TRY_EVERY_MS
  }

  /** One round, whoever has the role. */
  async look(): Promise<void> {
    const { topics, laneBoard, log } = this.#deps
    const watched = await topics.watched(WATCHED_TOPICS_MAX)
    if (watched.length === WATCHED_TOPICS_MAX) log.warn({ topics: watched.length }, 'notices.incomplete')
    if (watched.length === 0) return
    const { lanes, isComplete } = await laneBoard.read()
    await disableEndpoints(this.#deps, watched, { lanes, now: this.#deps.clock() })
    const audience = new Audience(watched, this.#options.account)
    if (!audience.isEmpty) await this.#lookAtAll({ audience, lanes, isComplete })
  }

  async #lookAtAll({ audience, lanes, isComplete }: Looked): Promise<void> {
    const { stats, health, alarms, failingMs } = this.#options
    const [{ open, reportedUntil }, server] = await Promise.all([alarms.read(), health.read()])
    // Publishing is refused, also of notices. They follow when memory is free again.
    if (server.memory.usedBytes >= server.watermarkBytes) return
    const now = this.#deps.clock()
    const span = spanSince(reportedUntil, now)
    const isSilent = (topicArn: string) => audience.isSilent(topicArn)
    const rules = { now, failingMs, isOpen: (name: string) => open.has(name) }
    const heard = lanes.filter(({ subscription }) => !isSilent(subscription.topicArn))
    const found: Alarms = new Map([...serverAlarms(server, rules), ...laneAlarms(heard, rules)])
    const began = [...found]
      .filter(([name]) => !open.has(name))
      .slice(0, Math.max(0, OPEN_ALARMS_MAX - open.size))
    // A lane that the board has left out may still fail.
    const absent = [...open].filter(([name]) => !found.has(name) && (isComplete || !name.includes(' ')))
    const ended = await endedAlarms(this.#deps, absent, {
      now,
      lanes: new Map(lanes.map((lane) => [lane.subscription.id, lane])),
      isWell: (lane) => isWell(lane, rules),
      isSilent,
    })
    const [letters, entries] = await Promise.all([
      deadLettersIn(stats, span, isSilent),
      entriesIn(this.#deps.quarantine, span, isSilent),
    ])
    const news = [
      ...began.map(([, alarm]) => newsOf(alarm)),
      ...recoveredNews(ended.reported),
      ...letters.map((count) => countNews('delivery.deadLettered', count)),
      ...entries.map((count) => countNews('quarantine.added', count)),
    ]
    await this.#publish(news, audience, now)
    await alarms.write({
      began: began.map(([name, { host, topicArn }]): NamedAlarm => [name, { host, topicArn }]),
      ended: [...ended.reported.map(({ name }) => name), ...ended.dropped],
      reportedUntil: span.until,
    })
  }

  async #publish(news: News[], audience: Audience, now: number): Promise<void> {
    const byTopic = new Map<string, News[]>()
    for (const item of news) {
      for (const topicArn of audience.topicsFor(item.topicArn)) {
        const list = byTopic.get(topicArn)
        if (list) list.push(item)
        else byTopic.set(topicArn, [item])
      }
    }
    const { failingMs, publicUrl } = this.#options
    for (const [topicArn, own] of byTopic)
      await publishNotices(this.#deps, topicArn, { notices: noticesOf(own, { now, failingMs }), publicUrl })
  }
}

interface Looked {
  audience: Audience
  lanes: readonly JudgedLane[]
  isComplete: boolean
}

function newsOf({ type, host, topicArn, lane, since, text }: Alarm): News {
  return { type, host, topicArn, count: 1, lane, since, text }
}

function countNews(type: NoticeType, { topicArn, count }: TopicCount): News {
  return { type, host: '', topicArn, count }
}

type Reported = Awaited<ReturnType<typeof endedAlarms>>['reported']

/** A subscription that had several alarms is reported once. */
function recoveredNews(reported: Reported): News[] {
  const ofServer = reported.filter(({ lane }) => !lane)
  const lanes = new Map(reported.map((ended) => [ended.lane?.subscription.id, ended]))
  const ofLanes = [...lanes.values()].filter(({ lane }) => lane)
  return [
    ...ofServer.map(({ type, host, topicArn }): News => {
      return { type: 'server.recovered', host, topicArn, count: 1, text: `The alarm ${type} has ended.` }
    }),
    ...ofLanes.map(({ host, topicArn, lane }): News => {
      return { type: 'endpoint.recovered', host, topicArn, count: 1, lane }
    }),
  ]
}
