/** Targets that both APIs check: endpoints that a caller names, and destinations of redrives. */
import type { Target } from '@fantail/access'
import { FantailError, parseArn, withoutSubscription } from '@fantail/contracts'
import { type EndpointAddress, PROTOCOL_TRAITS } from '@fantail/policy'
import type { ApiDeps } from '../deps/api-deps.ts'
import { deadLetterSources } from '../redrives/dead-letter-sources.ts'

/** A caller who names a queue, function, stream, phone number or platform endpoint must have access to it. */
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

/** The error names none of the queues and topics, because the caller has only named the source. */
const NOT_ALL =
  'the source takes dead letters of topics or queues that the key may not send to: name a destination'

/**
 * The targets of a redrive without a destination: the queues and topics whose dead letters its source receives. Only
 * their names are checked. The messages came from these queues and topics, so no policy has to allow them again.
 */
export async function originsOf(deps: ApiDeps, source: string): Promise<Target[]> {
  const arns = (await deadLetterSources(deps, source)).map(withoutSubscription)
  return [...new Set(arns)].map((arn) => ({
    action: parseArn(arn)?.service === 'sqs' ? 'SQS:SendMessage' : 'SNS:Publish',
    arn,
    byName: true,
    hidden: { error: new FantailError('forbidden', NOT_ALL) },
  }))
}
