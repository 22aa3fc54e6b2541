/** The steps of an erasure. Each is safe to repeat, and none depends on what an earlier run of it has seen. */
import {
  type BulkTask,
  FantailError,
  type PortalGrant,
  QUOTAS_MAX,
  type RedriveTask,
  topicArn as topicArnOf,
  withoutSubscription,
} from '@fantail/contracts'
import { allItems, type BulkOutcome } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import { deleteSubscription } from '../subscriptions/change.ts'
import { deleteTopic } from '../topics/topic-changes.ts'
import { endpointDigest } from './plan-erasure.ts'
import type { Hold } from './redrive-step.ts'

/** Processes gather figures and attempts for up to 5 s before they write them. */
const LATE_WRITES_MS = 6_000
/** Items of one page of a list that is searched for the customer's. */
const ERASED_AT_ONCE = 100

interface Step {
  task: BulkTask
  object: string
  /** Whether it existed before the task. */
  before: string | undefined
  hold: Hold
}

export async function eraseStep(deps: ApiDeps, step: Step): Promise<BulkOutcome> {
  const [kind = '', name = '', uid = ''] = step.object.split(' ')
  switch (kind) {
    case 'sub':
      return eraseSubscription(deps, step, name)
    case 'topic':
      return eraseTopic(deps, step, { arn: name, uid })
  }
  if (!(await step.hold(0))) throw new FantailError('wrong_state', 'the task was canceled')
  switch (kind) {
    case 'letters':
      return eraseLetters(deps, step.task, name)
    case 'drain':
      return drain(deps, step)
    case 'rest':
      return eraseRest(deps, await customerOf(deps, step.task))
    default:
      await deps.bulk.forget(step.task)
      return {}
  }
}

/** A run that died may have erased the object already. It counts all the same, because it existed before. */
const countedAs = (what: string, before: string | undefined): BulkOutcome =>
  before === undefined ? {} : { counted: { [what]: 1 } }

async function eraseSubscription(deps: ApiDeps, { before }: Step, id: string): Promise<BulkOutcome> {
  const place = await deps.subscriptions.locate(id)
  if (place) {
    await deleteSubscription(deps, id)
    deps.topicCache.forget(place.topicArn)
  }
  return countedAs('subscriptions', before)
}

interface TopicId {
  arn: string
  uid: string
}

async function eraseTopic(deps: ApiDeps, { task, before }: Step, topic: TopicId): Promise<BulkOutcome> {
  if (await isThere(deps, topic)) {
    await endArchive(deps, topic)
    await deleteTopic(deps, topic.arn, task.id)
  }
  return countedAs('topics', before)
}

/** The redrive service then deletes its blocks. */
async function endArchive({ topics }: ApiDeps, { arn }: TopicId): Promise<void> {
  if ((await topics.get(arn))?.archive) await topics.patch(arn, { archive: null })
}

/** A topic that was created later under the same name is another one. */
async function isThere({ topics }: ApiDeps, { arn, uid }: TopicId): Promise<boolean> {
  return (await topics.get(arn))?.uid === uid
}

/** Which of the objects exist, for the report. */
export async function existingObjects(deps: ApiDeps, objects: string[]): Promise<Record<string, string>> {
  const found = await Promise.all(
    objects.map(async (object) => {
      const [kind, name = '', uid = ''] = object.split(' ')
      if (kind === 'sub') return (await deps.subscriptions.locate(name)) !== null
      return kind === 'topic' && isThere(deps, { arn: name, uid })
    }),
  )
  return Object.fromEntries(objects.filter((_, i) => found[i]).map((object) => [object, '1']))
}

/**
 * Workers discard what waits, and the redrive service deletes blocks of archives. Messages that no worker has fetched
 * yet still have their texts. The task waits as long as that takes, because later steps forget the names by which the
 * rest is found.
 */
async function drain(deps: ApiDeps, { task, hold }: Step): Promise<BulkOutcome> {
  const { subscriptions, uids } = await customerOf(deps, task)
  const from = deps.clock()
  for (;;) {
    const [lanes, archives, waitsSince] = await Promise.all([
      deps.erasure.lanesLeft([...subscriptions]),
      deps.erasure.archivesLeft(uids),
      deps.laneBoard.undispatchedSince(),
    ])
    const isDrained = lanes + archives === 0 && (waitsSince === undefined || waitsSince > from)
    if (isDrained && deps.clock() - from >= LATE_WRITES_MS) return {}
    if (!(await hold())) throw new FantailError('wrong_state', 'the task was canceled')
  }
}

/** A queue that a deleted topic made for its dead letters is deleted with all that it holds. */
async function eraseLetters(deps: ApiDeps, task: BulkTask, arn: string): Promise<BulkOutcome> {
  const queue = await deps.queues.get(arn)
  // If the process was killed after it had deleted the queue, the number of its dead letters is lost.
  if (!queue) return { counted: { deadLetters: 0 } }
  const customer = await customerOf(deps, task)
  const own = queue.deadLettersOf
  const spared = await sparedTopics(deps, customer)
  if (own !== undefined && customer.hasTopic(own) && !spared.includes(own)) {
    const deadLetters = await deps.queues.purge(arn)
    await deps.queues.delete(arn)
    return { counted: { deadLetters, queues: 1 } }
  }
  const filter = customer.topicPrefix
    ? { topicPrefix: customer.topicPrefix, ...(spared.length > 0 && { exceptTopics: spared }) }
    : { subscriptions: [...customer.subscriptions].map((id) => customer.arnOf.get(id) ?? id) }
  return { counted: { deadLetters: await deps.queues.purgeDeadLetters(arn, filter) } }
}

/** Topics with the prefix that stay: the plan left them out, or they are newer. */
async function sparedTopics({ topics }: ApiDeps, { topicPrefix, uids }: Customer): Promise<string[]> {
  const spared: string[] = []
  if (topicPrefix === undefined) return spared
  const query = { arnPrefix: topicPrefix, limit: ERASED_AT_ONCE }
  for await (const { arn, uid } of allItems((more) => topics.list({ ...query, ...more })))
    if (!uids.has(uid)) spared.push(arn)
  return spared
}

interface Customer {
  /** The beginning of the ARNs of the topics. undefined: only subscriptions are erased. */
  topicPrefix: string | undefined
  topics: string[]
  /** Queues in which its dead letters may be. */
  queues: string[]
  uids: Set<string>
  subscriptions: Set<string>
  arnOf: Map<string, string>
  /** Digests of the endpoints. */
  endpoints: Set<string>
  hasTopic(arn: string): boolean
  /** The quotas to delete. undefined: none. A key that is bound to names does not free itself of its quota. */
  quotas: { account: string; within: string[] } | undefined
}

/** The customer, as the task's objects name it: the records may be gone already. */
async function customerOf(deps: ApiDeps, { id, leaving, key }: BulkTask): Promise<Customer> {
  const rows = (await deps.bulk.objects(id)).map((object) => object.split(' '))
  const place = { ...deps.settings.arn, ...(key && { account: key.account }) }
  const prefix = leaving && 'topicPrefix' in leaving ? leaving.topicPrefix : undefined
  const topicPrefix = prefix === undefined ? undefined : topicArnOf(prefix, place)
  const isBound = key !== null && key.prefixes.length > 0
  const topics = rows.flatMap(([kind, arn = '']) => (kind === 'topic' ? [arn] : []))
  const ofSubs = rows.filter(([kind]) => kind === 'sub')
  const subs = ofSubs.map(([, sub = '', arn = '']) => [sub, arn] as const)
  return {
    topicPrefix,
    topics,
    queues: rows.flatMap(([kind, arn = '']) => (kind === 'letters' ? [arn] : [])),
    uids: new Set(rows.flatMap(([kind, , uid = '']) => (kind === 'topic' ? [uid] : []))),
    subscriptions: new Set(subs.map(([sub]) => sub)),
    arnOf: new Map(subs),
    endpoints: new Set(ofSubs.map(([, , , digest = '']) => digest)),
    hasTopic: (arn) => topicPrefix !== undefined && topics.includes(arn),
    quotas: prefix === undefined || isBound ? undefined : { account: place.account, within: [prefix] },
  }
}

/** Everything that only names the customer, or that nothing but time would remove. */
async function eraseRest(deps: ApiDeps, customer: Customer): Promise<BulkOutcome> {
  const { erasure, attempts, statsStore, portalSessions, storageGuard } = deps
  const { topics, subscriptions, uids } = customer
  const ids = [...subscriptions]
  for (let at = 0; at < ids.length; at += ERASED_AT_ONCE)
    await attempts.drop(ids.slice(at, at + ERASED_AT_ONCE))
  await statsStore.erase('s', ids, deps.clock())
  await statsStore.erase('t', topics, deps.clock())
  await erasure.former(ids)
  await erasure.queueNames(customer.queues)
  const spared = await sparedTopics(deps, customer)
  const portalEnded = await portalSessions.endAll((grant) => isOnlyFor(grant, { customer, spared }, deps))
  const quarantined = await eraseQuarantined(deps, customer)
  const redrives = await forgetRedrives(deps, customer)
  const quotas = spared.length === 0 ? await deleteQuotas(deps, customer) : 0
  const bulkTasks = await forgetInTasks(deps, customer)
  // Copies of the outcome log need memory.
  await storageGuard.admit()
  const outcomes = await erasure.outcomes((kind, name) =>
    kind === 'topic' ? customer.hasTopic(name) : subscriptions.has(name),
  )
  await Promise.all([deps.keptUpkeep.sweep(), deps.queues.sweep()])
  const keys = await erasure.leftovers(uids)
  return {
    counted: {
      portalSessions: portalEnded,
      quarantined,
      redrives,
      quotas,
      bulkTasks,
      outcomes,
      otherKeys: keys,
    },
  }
}

const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** Earlier tasks show the first of their endpoints and topics, and what has failed. */
function forgetInTasks({ bulk }: ApiDeps, { endpoints, subscriptions, topics }: Customer): Promise<number> {
  const isTopic = (text: string) => topics.some((arn) => text.includes(arn))
  return bulk.forgetIn({
    isSample: (text) => endpoints.has(endpointDigest(text)) || isTopic(text),
    isObject: (text) => (text.match(IDS) ?? []).some((id) => subscriptions.has(id)) || isTopic(text),
  })
}

/** A quota has the customer's prefix as its name. */
async function deleteQuotas({ quotas }: ApiDeps, customer: Customer): Promise<number> {
  if (!customer.quotas) return 0
  const { items } = await quotas.list({ ...customer.quotas, limit: QUOTAS_MAX })
  for (const { account, prefix } of items) await quotas.delete(account, prefix)
  return items.length
}

/** A grant for others too stays: it names them. */
function isOnlyFor(
  { prefixes, subscriptions, account }: PortalGrant,
  { customer, spared }: { customer: Customer; spared: string[] },
  deps: ApiDeps,
): boolean {
  if (subscriptions) return subscriptions.every((id) => customer.subscriptions.has(id))
  const { topicPrefix } = customer
  if (topicPrefix === undefined || prefixes.length === 0) return false
  const place = { ...deps.settings.arn, account }
  return prefixes
    .map((prefix) => topicArnOf(prefix, place))
    .every((own) => own.startsWith(topicPrefix) && !spared.some((arn) => arn.startsWith(own)))
}

async function eraseQuarantined({ quarantine }: ApiDeps, customer: Customer): Promise<number> {
  let removed = 0
  const entries = allItems((more) => quarantine.list({ limit: ERASED_AT_ONCE, ...more }))
  for await (const { id, topicArn, subscriptionId } of entries) {
    const isOurs =
      (subscriptionId !== null && customer.subscriptions.has(subscriptionId)) ||
      (topicArn !== null && customer.hasTopic(topicArn))
    if (isOurs && (await quarantine.remove(id))) removed++
  }
  return removed
}

async function forgetRedrives({ redrives }: ApiDeps, customer: Customer): Promise<number> {
  let forgotten = 0
  for await (const task of allItems((more) => redrives.list({ limit: ERASED_AT_ONCE, ...more }))) {
    if (task.endedAt === null || !isAbout(task, customer)) continue
    await redrives.forget(task.id)
    forgotten++
  }
  return forgotten
}

function isAbout({ source, filter }: RedriveTask, customer: Customer): boolean {
  const { subscription, subscriptions = [], topic } = filter
  const named = [source, ...(subscription ? [subscription] : []), ...subscriptions]
  const isOurs = (arn: string) =>
    customer.subscriptions.has(arn.split(':').at(-1) ?? '') || customer.hasTopic(withoutSubscription(arn))
  return (
    named.some(isOurs) || (topic !== undefined && customer.hasTopic(topic)) || isOwnQueue(source, customer)
  )
}

/** A topic's own dead-letter queue has the topic's name in its own. */
function isOwnQueue(source: string, { topics }: Customer): boolean {
  const name = source.split(':').at(-1) ?? ''
  return topics.some((arn) => name.startsWith(`${arn.split(':').at(-1)}-dead-letters`))
}
