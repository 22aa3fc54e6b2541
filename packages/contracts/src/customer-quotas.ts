/**
 * Quotas of customers. A customer is a prefix: the topics of an account whose names begin with it, in every region. A
 * topic may belong to several quotas, of which each must hold.
 */
import { parseArn } from './arn.ts'
import { FantailError } from './fantail-error.ts'

export const QUOTA_MEMBERS = ['topics', 'subscriptions', 'storedBytes'] as const
export type QuotaMember = (typeof QUOTA_MEMBERS)[number]

/** null: no bound. */
export type QuotaBounds = Record<QuotaMember, number | null>

export interface QuotaRecord extends QuotaBounds {
  account: string
  prefix: string
}

/** @limit Quotas of all accounts together. Past it: making one is refused. */
export const QUOTAS_MAX = 10_000

/** The name of a quota among all others. */
export function quotaName({ account, prefix }: Pick<QuotaRecord, 'account' | 'prefix'>): string {
  return `${account} ${prefix}`
}

/** The names of all quotas that a topic can belong to. None: it is a topic for direct messages. */
export function quotaNamesOf(topicArn: string): string[] {
  const { account = '', name = '' } = parseArn(topicArn) ?? {}
  return Array.from({ length: name.length }, (_, i) => quotaName({ account, prefix: name.slice(0, i + 1) }))
}

const THINGS: Record<QuotaMember, string> = {
  topics: 'topics',
  subscriptions: 'subscriptions',
  storedBytes: 'bytes of stored messages',
}

export class QuotaExceededError extends FantailError {
  readonly member: QuotaMember

  constructor(prefix: string, member: QuotaMember, max: number) {
    super(
      'quota_exceeded',
      `topics that begin with ${prefix} have as many ${THINGS[member]} as their quota, ${max}`,
    )
    this.name = 'QuotaExceededError'
    this.member = member
  }
}
