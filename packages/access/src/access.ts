/**
 * Decides whether a key may act on a topic or queue. The name must have one of the key's prefixes. Within the key's
 * account the action is then allowed, unless the resource's policy denies it. In another account the policy must allow
 * it. The owner may always replace a policy. Otherwise a policy that denies everything would lock the owner out.
 */
import {
  directOwnerOf,
  FantailError,
  type KeyScope,
  nameOfArn,
  type QueueRecord,
  type TopicRecord,
  withoutSubscription,
} from '@fantail/contracts'
import {
  type AccessPolicy,
  decideAccess,
  keysOfCall,
  type Organizations,
  parseAccessPolicy,
} from '@fantail/policy'
import { type Caller, type Key, needAllNames, needScope, principalOf } from './caller.ts'

/** `action` is named as in `SNS:Publish`. `arn` is that of a topic or queue. */
export interface Target {
  action: string
  arn: string
  /**
   * The action concerns all resources. It needs a key without prefixes and with this scope. Nothing else is checked.
   */
  scope?: KeyScope
  /** Only the name is checked, against the key's prefixes. No policy is read. */
  byName?: boolean
  /** Condition keys of this action, in lower case. */
  context?: Record<string, string>
  /** Set if the caller named the target by an id, or not at all. The refusal must then not reveal its ARN. */
  hidden?: Hidden
}

interface Hidden {
  /** Thrown instead of the refusal. */
  error: Error
  /** An action that shows the resource. A key that may perform it gets the refusal itself, and not the hidden form. */
  sees?: string
}

const REPAIRS = new Set([
  'SNS:SetTopicAttributes',
  'SNS:RemovePermission',
  'SQS:SetQueueAttributes',
  'SQS:RemovePermission',
])

/**
 * Actions that a topic's keys may perform on the topic's own dead-letter queue, even if the queue's name has none of
 * their prefixes.
 */
const TOPIC_QUEUE_ACTIONS = new Set([
  'SQS:GetQueueAttributes',
  'SQS:GetQueueUrl',
  'SQS:ReceiveMessage',
  'SQS:DeleteMessage',
  'SQS:ChangeMessageVisibility',
  'SQS:StartMessageMoveTask',
  'SQS:ListMessageMoveTasks',
  'SQS:CancelMessageMoveTask',
])

/** Actions that no policy can allow to other accounts: those that SQS excludes, and SNS's actions without a topic. */
const OWN_ONLY = new Set(
  [
    'SNS:CreateTopic SNS:GetSubscriptionAttributes SNS:SetSubscriptionAttributes SNS:Unsubscribe',
    'SQS:AddPermission SQS:CancelMessageMoveTask SQS:CreateQueue SQS:DeleteQueue SQS:ListMessageMoveTasks',
    'SQS:ListQueueTags SQS:RemovePermission SQS:SetQueueAttributes SQS:StartMessageMoveTask SQS:TagQueue SQS:UntagQueue',
  ].flatMap((names) => names.split(' ')),
)

/** Where the request came from. Conditions of policies read it. */
interface Where {
  /** undefined: there is no connection. */
  readonly remoteAddress: string | undefined
  /** Whether the request came over TLS. */
  readonly isSecure: boolean
  /** A header of the request, by its name in lower case. */
  header(name: string): string | undefined
}

/** Finds records by ARN: `known` in memory, `find` in Redis too. */
interface Records<T> {
  known(arn: string): T | undefined
  find(arn: string): Promise<T | null>
}

interface AccessDeps {
  topicCache: Records<{ record: TopicRecord }>
  queueCache: Records<QueueRecord>
  /** Epoch ms. */
  clock: () => number
  settings: { organizations?: Organizations }
}

export class Access {
  readonly #deps: AccessDeps
  /** Record → its policy, parsed once. Undefined: the policy cannot be read. */
  readonly #policies = new WeakMap<object, AccessPolicy | undefined>()

  constructor(deps: AccessDeps) {
    this.#deps = deps
  }

  /**
   * Throws or rejects with `forbidden`, or with the `error` of a hidden target. It returns a promise only if the target
   * is hidden, or if its record has to be looked up.
   */
  permit(key: Key, target: Target, where: Where): void | Promise<void> {
    if (target.hidden) return this.#permitHidden(key, target, { where, hidden: target.hidden })
    return this.#permitOpenly(key, target, where)
  }

  async #permitHidden(key: Key, target: Target, { where, hidden }: { where: Where; hidden: Hidden }) {
    const refusal = await this.#refusalOf(key, target, where)
    if (!refusal) return
    const sees = hidden.sees !== undefined && { ...target, action: hidden.sees }
    throw sees && !(await this.#refusalOf(key, sees, where)) ? refusal : hidden.error
  }

  async #refusalOf(key: Key, target: Target, where: Where): Promise<FantailError | undefined> {
    try {
      await this.#permitOpenly(key, target, where)
    } catch (error) {
      if (error instanceof FantailError && error.code === 'forbidden') return error
      throw error
    }
  }

  #permitOpenly(key: Key, target: Target, where: Where): void | Promise<void> {
    if (target.scope !== undefined) {
      needScope(key, [target.scope])
      needAllNames(key)
      return
    }
    if (!hasName(key, target.arn)) {
      if (!TOPIC_QUEUE_ACTIONS.has(target.action)) throw refusal(key, target, PREFIXED)
      return this.#permitOfTopic(key, target, where)
    }
    if (target.byName) return
    return this.#permitNamed(key, target, where)
  }

  /** For a queue whose name has none of the key's prefixes: allowed if one of the key's topics made the queue. */
  async #permitOfTopic(key: Key, target: Target, where: Where): Promise<void> {
    const record = await this.#recordOf(target.arn)
    const topicArn = record && 'deadLettersOf' in record ? record.deadLettersOf : undefined
    if (topicArn === undefined || !hasName(key, topicArn)) throw refusal(key, target, PREFIXED)
    if (!target.byName) await this.#permitNamed(key, target, where)
  }

  #permitNamed(key: Key, target: Target, where: Where): void | Promise<void> {
    if (OWN_ONLY.has(target.action) && accountOf(target.arn) !== key.account) {
      throw refusal(key, target, NOT_ALLOWED)
    }
    const record = this.#recordOf(target.arn)
    if (record instanceof Promise) return record.then((found) => this.#judge(key, target, { where, found }))
    this.#judge(key, target, { where, found: record })
  }

  #recordOf(arn: string): TopicRecord | QueueRecord | null | Promise<TopicRecord | QueueRecord | null> {
    const { topicCache, queueCache } = this.#deps
    if (serviceOf(arn) === 'sqs') return queueCache.known(arn) ?? queueCache.find(arn)
    return topicCache.known(arn)?.record ?? topicCache.find(arn).then((known) => known?.record ?? null)
  }

  #judge(
    key: Key,
    target: Target,
    { where, found }: { where: Where; found: TopicRecord | QueueRecord | null },
  ) {
    const own = accountOf(target.arn) === key.account
    const policy = found ? this.#policyOf(found) : undefined
    const decision = policy
      ? decideAccess(policy, {
          caller: { account: key.account, arn: principalOf(key) },
          action: target.action,
          resource: target.arn,
          keys: keysOfCall({
            now: this.#deps.clock(),
            resource: target.arn,
            tags: found?.tags,
            organizations: this.#deps.settings.organizations,
            account: key.account,
            principalArn: principalOf(key),
            userName: key.id,
            isSecure: where.isSecure,
            remoteAddress: where.remoteAddress,
            header: (name) => where.header(name),
            ofAction: target.context,
          }),
        })
      : 'none'
    if (own && (decision !== 'deny' || REPAIRS.has(target.action))) return
    if (decision === 'deny') throw refusal(key, target, DENIED)
    if (decision === 'none') throw refusal(key, target, NOT_ALLOWED)
  }

  #policyOf(record: TopicRecord | QueueRecord): AccessPolicy | undefined {
    const { Policy: text } = record.attributes
    if (text === undefined) return undefined
    if (!this.#policies.has(record)) this.#policies.set(record, parseAccessPolicy(text))
    return this.#policies.get(record)
  }
}

/** Whether the name has one of the key's prefixes. The account is not compared. */
function hasName({ prefixes }: Pick<Key, 'prefixes'>, arn: string): boolean {
  if (prefixes.length === 0) return true
  // The ARN of a stream has a slash before the stream's name.
  const name = nameOfArn(withoutSubscription(arn)).replace(/^.*\//, '')
  return prefixes.some((prefix) => name.startsWith(prefix))
}

/** Whether the key's lists show the resource: it has the key's account and one of the key's prefixes. */
export function isOf(key: Key, arn: string): boolean {
  return accountOf(arn) === key.account && hasName(key, arn)
}

/**
 * Whether lists and sums may contain the topic or queue. The topics of direct messages are internal, so they are never
 * part of them.
 */
export function isVisible(caller: Caller, arn: string): boolean {
  if (directOwnerOf(arn) !== undefined) return false
  return caller === null || isOf(caller, arn)
}

const PREFIXED = 'because the key is for other names'
const DENIED = 'with an explicit deny in a resource-based policy'
const NOT_ALLOWED = 'because no resource-based policy allows it'

function refusal(key: Key, { action, arn }: Target, why: string): FantailError {
  const user = key.portal ? 'this session' : principalOf(key)
  const text = `User: ${user} is not authorized to perform: ${action} on resource: ${arn}`
  return new FantailError('forbidden', `${text} ${why}`)
}

function serviceOf(arn: string): string | undefined {
  return arn.split(':', 3)[2]
}

function accountOf(arn: string): string | undefined {
  return arn.split(':', 5)[4]
}
