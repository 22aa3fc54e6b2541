/** Reads from SNS's feedback attributes which deliveries are logged (checklist 199, 200, 389). */
import type { StatusLog } from '@fantail/contracts'

/**
 * Reads the feedback attributes. `prefix`: the beginning of their names, such as `HTTP`. In a platform application the
 * names have no beginning. Returns undefined if nothing is logged. If the attributes have no rate, every success is
 * logged.
 */
export function statusLogOf(
  attributes: Record<string, string>,
  prefix: string | null,
): StatusLog | undefined {
  if (prefix === null) return undefined
  const successes = Boolean(attributes[`${prefix}SuccessFeedbackRoleArn`])
  const failures = Boolean(attributes[`${prefix}FailureFeedbackRoleArn`])
  if (!successes && !failures) return undefined
  const rate = Number(attributes[`${prefix}SuccessFeedbackSampleRate`] ?? 100)
  return { share: successes ? rate / 100 : 0, failures }
}

/**
 * Like `statusLogOf`, from the attributes of text messages (SetSMSAttributes). Every failure is logged if there is a
 * role.
 */
export function smsStatusLogOf({
  DeliveryStatusIAMRole: role,
  DeliveryStatusSuccessSamplingRate: rate = '100',
}: Readonly<Record<string, string>>): StatusLog | undefined {
  return role ? { share: Number(rate) / 100, failures: true } : undefined
}
