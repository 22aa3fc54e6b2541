/**
 * Attributes of queues in SQS's API that have no setting of their own. Fantail only stores them, and shows them as they
 * were given. The AWS protocols check them in other words (queue-attributes.ts).
 */
import { objectOf, type Problem } from '@fantail/contracts'
import { policyProblem } from '@fantail/policy'

export const KMS_REUSE_SECONDS = { min: 60, max: 86_400, default: '300' }
/**
 * SQS bounds policies. Here every value is bounded, also to keep nested JSON from exhausting the stack.
 * @limit Value of a queue attribute. Past it: the request is refused.
 */
export const QUEUE_ATTRIBUTE_BYTES_MAX = 8_192

const ATTRIBUTES: Record<string, (text: string) => string | undefined> = {
  Policy: (text) => (objectOf(text) ? policyProblem(text) : 'must be a JSON object'),
  KmsMasterKeyId: () => undefined,
  KmsDataKeyReusePeriodSeconds: (text) => {
    const { min, max } = KMS_REUSE_SECONDS
    const isWithin = /^\d{1,6}$/.test(text) && Number(text) >= min && Number(text) <= max
    return isWithin ? undefined : `must be a whole number from ${min} to ${max}`
  },
  SqsManagedSseEnabled: (text) => (/^(true|false)$/.test(text) ? undefined : 'must be true or false'),
}

/** The problems of all attributes. */
export function queueAttributeProblems(given: Record<string, string>): Problem[] {
  return Object.entries(given).flatMap(([name, text]) => {
    const message = problemOf(name, text)
    return message === undefined ? [] : [{ path: `attributes.${name}`, message }]
  })
}

function problemOf(name: string, text: string): string | undefined {
  const check = Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : undefined
  if (!check) return `must be one of ${Object.keys(ATTRIBUTES).join(', ')}`
  if (Buffer.byteLength(text) <= QUEUE_ATTRIBUTE_BYTES_MAX) return check(text)
  return `must have at most ${QUEUE_ATTRIBUTE_BYTES_MAX} bytes`
}
