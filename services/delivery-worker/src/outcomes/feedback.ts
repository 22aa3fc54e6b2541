/** The settings of topics' feedback attributes (checklist 199, 200). */
import type { TopicRecord } from '@fantail/contracts'
import type { ReportTraits } from '@fantail/policy'

/** A topic's settings for one kind of subscriber. */
export interface Feedback {
  /** Share of successes to log, from 0 to 1. */
  share: number
  failures: boolean
}

/** undefined: nothing is logged. Without a rate every success is logged. */
export function feedbackOf(
  { attributes }: TopicRecord,
  kind: ReportTraits['feedback'],
): Feedback | undefined {
  if (kind === null) return undefined
  const successes = Boolean(attributes[`${kind}SuccessFeedbackRoleArn`])
  const failures = Boolean(attributes[`${kind}FailureFeedbackRoleArn`])
  if (!successes && !failures) return undefined
  const rate = Number(attributes[`${kind}SuccessFeedbackSampleRate`] ?? 100)
  return { share: successes ? rate / 100 : 0, failures }
}
