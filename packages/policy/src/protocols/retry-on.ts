/** Reads `retryOn` of a policy, a list of statuses and classes of statuses to retry. It replaces the default list. */
import { RETRY_ON_MEMBERS_MAX } from '@fantail/contracts'

type RetryOn = readonly (string | number)[]

/** A 2xx is a delivery. */
const STATUS = /^[1345](?:\d\d|xx)$/i

export function retryOnProblem(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (!Array.isArray(value)) return 'must be a list'
  if (value.length > RETRY_ON_MEMBERS_MAX) return `must have at most ${RETRY_ON_MEMBERS_MAX} members`
  const wrong = value.find((member) => !STATUS.test(String(member)))
  if (wrong === undefined) return undefined
  return `must list statuses other than 2xx, like 404, or classes like 5xx, not ${JSON.stringify(wrong)}`
}

export function isRetriedOn(statusCode: number, retryOn: RetryOn): boolean {
  const text = String(statusCode)
  return retryOn.some((member) => {
    const name = String(member).toLowerCase()
    return name === text || (name.endsWith('xx') && name[0] === text[0])
  })
}
