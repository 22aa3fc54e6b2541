/** A caller who names a queue, function, stream, phone number or platform endpoint must have access to it. */
import type { Target } from '@fantail/access'
import { type EndpointAddress, PROTOCOL_TRAITS } from '@fantail/policy'

export function endpointTargets({ protocol, endpoint }: EndpointAddress): Target[] {
  return PROTOCOL_TRAITS[protocol].rightsOf(endpoint)
}

export function functionTargets(endpoint: string): Target[] {
  return PROTOCOL_TRAITS.lambda.rightsOf(endpoint)
}

/**
 * The right to subscribe an endpoint to a topic. A subscription that moves to another endpoint needs it too, because a
 * policy may say which endpoints a topic may have.
 */
export function subscribing(topic: string, { protocol, endpoint }: Record<keyof EndpointAddress, string>) {
  return {
    action: 'SNS:Subscribe',
    arn: topic,
    context: { 'sns:endpoint': endpoint, 'sns:protocol': protocol },
  } satisfies Target
}

/** The rights to publish to one target. Both APIs name it by parameters of their own. */
export function directTargets({ PhoneNumber: number, TargetArn: arn }: Record<string, unknown>): Target[] {
  return [
    ...PROTOCOL_TRAITS.sms.rightsOf(String(number)),
    ...PROTOCOL_TRAITS.application.rightsOf(String(arn)),
  ]
}
