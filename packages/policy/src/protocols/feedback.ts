/** Reads from feedback attributes which deliveries are logged (checklist 199, 200). */
import type { Feedback } from '@fantail/contracts'

/**
 * `prefix`: the kind of subscriber among the attributes of a topic; those of a platform application have none.
 * undefined: nothing is logged. Without a rate every success is logged.
 */
export function feedbackOf(attributes: Record<string, string>, prefix: string | null): Feedback | undefined {
  if (prefix === null) return undefined
  const successes = Boolean(attributes[`${prefix}SuccessFeedbackRoleArn`])
  const failures = Boolean(attributes[`${prefix}FailureFeedbackRoleArn`])
  if (!successes && !failures) return undefined
  const rate = Number(attributes[`${prefix}SuccessFeedbackSampleRate`] ?? 100)
  return { share: successes ? rate / 100 : 0, failures }
}
