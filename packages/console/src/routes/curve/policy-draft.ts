/** The draft in the form of the curve editor. Its values are text until they are read as a policy. */
import type { Subscription } from '@fantail/client/api'
import type { BackoffFunction, RetryPolicy } from '@fantail/contracts'
import { previewRetries as drawnRetries } from '@fantail/policy'
import { operations } from '../../api/api-calls.ts'
import { ApiError } from '../../api/api-error.ts'
import { send } from '../../api/send.ts'
import { words } from '../../i18n/en.ts'

export const MEMBERS = [
  'minDelayTarget',
  'maxDelayTarget',
  'numRetries',
  'numNoDelayRetries',
  'numMinDelayRetries',
  'numMaxDelayRetries',
] as const
export const BACKOFFS = (['linear', 'arithmetic', 'geometric', 'exponential'] as const).map((value) => ({
  value,
  label: value,
}))

export type Draft = Record<(typeof MEMBERS)[number] | 'throttle', string> & {
  backoffFunction: BackoffFunction
}

interface Effective {
  healthyRetryPolicy: RetryPolicy
  throttlePolicy: { maxReceivesPerSecond: number } | null
}

export function draftOf({ healthyRetryPolicy: retry, throttlePolicy }: Effective): Draft {
  const members = Object.fromEntries(MEMBERS.map((member) => [member, String(retry[member])]))
  return {
    ...(members as Record<(typeof MEMBERS)[number], string>),
    backoffFunction: retry.backoffFunction,
    throttle: throttlePolicy ? String(throttlePolicy.maxReceivesPerSecond) : '',
  }
}

/** The policy of the draft. An empty field is not a number, and the check of the policy reports that at its member. */
export function policyOf(draft: Draft): { retry: RetryPolicy; throttle: number | undefined } {
  const number = (text: string) => (text.trim() === '' ? Number.NaN : Number(text))
  const members = Object.fromEntries(MEMBERS.map((member) => [member, number(draft[member])]))
  return {
    retry: {
      ...(members as Record<(typeof MEMBERS)[number], number>),
      backoffFunction: draft.backoffFunction,
    },
    throttle: draft.throttle.trim() === '' ? undefined : Number(draft.throttle),
  }
}

interface Input {
  path: { id: string }
  body: { deliveryPolicy: Subscription['deliveryPolicy'] }
}

/** Saves a policy if the server draws the same curve from it. */
export async function saveChecked(input: Input): Promise<Subscription> {
  const { deliveryPolicy } = input.body
  const { retries } = await send(operations.previewRetries, { body: { deliveryPolicy } })
  const drawn = drawnRetries(deliveryPolicy?.healthyRetryPolicy as RetryPolicy)
  if (JSON.stringify(retries) !== JSON.stringify(drawn)) {
    throw new ApiError({ code: 'conflict', message: words.curve.differs, status: 0 })
  }
  return send(operations.updateSubscription, input)
}
