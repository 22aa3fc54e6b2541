/** The targets of direct messages: phone numbers and platform endpoints. */
import {
  FantailError,
  isPlatform,
  numbersArn,
  type Platform,
  type Problem,
  parsePlatformEndpointArn,
  platformEndpointArn,
} from '@fantail/contracts'
import { parsePhoneNumber } from '@fantail/policy'
import type { ApiDeps } from '../deps/api-deps.ts'
import { servedProblems } from '../subscriptions/subscription-settings.ts'

export interface DirectTarget {
  /** The phone number, or the ARN of the platform endpoint. */
  target: string
  protocol: 'sms' | 'application'
  /** The owner of the topics for these messages: a platform application, or all phone numbers of an account. */
  owner: string
  /** Undefined: the target is a phone number. */
  platform: Platform | undefined
  /** Targets with the same value share a lane. They are targets that would hang at the same time. */
  laneKey: string
  /** The endpoint of the subscription whose lane the target uses. */
  sharedEndpoint: string
}

type Reason = 'badNumber' | 'unserved' | 'noEndpoint' | 'endpointDisabled' | 'applicationDisabled' | 'text'

/** The message cannot be published to this target. */
export class TargetRefusal extends Error {
  readonly reason: Reason

  constructor(reason: Reason, message: string) {
    super(message)
    this.name = 'TargetRefusal'
    this.reason = reason
  }
}

const MEMBERS: Record<Reason, Problem['path']> = {
  badNumber: 'phoneNumber',
  unserved: 'phoneNumber',
  noEndpoint: 'targetArn',
  endpointDisabled: 'targetArn',
  applicationDisabled: 'targetArn',
  text: 'message',
}

/** The error of the native API for the refusal. */
export function refusedTarget({ reason, message }: TargetRefusal): FantailError {
  const isState = reason === 'endpointDisabled' || reason === 'applicationDisabled'
  return isState ? new FantailError('conflict', message) : FantailError.invalid(MEMBERS[reason], message)
}

const NO_ENDPOINT = '00000000-0000-0000-0000-000000000000'
const NUMBERS_ENDPOINT = 'numbers'

/** `account`: the account of the caller. Throws a TargetRefusal. */
export function numberTarget(
  deps: Pick<ApiDeps, 'attempters' | 'settings'>,
  text: string,
  account: string,
): DirectTarget {
  const target = parsePhoneNumber(text)
  if (target === undefined) throw new TargetRefusal('badNumber', 'must be a phone number such as +15550100')
  const [problem] = servedProblems(deps, { protocol: 'sms', endpoint: target })
  if (problem) throw new TargetRefusal('unserved', problem.message)
  const owner = numbersArn({ ...deps.settings.arn, account })
  const shared = { laneKey: target, sharedEndpoint: NUMBERS_ENDPOINT }
  return { target, protocol: 'sms', owner, platform: undefined, ...shared }
}

/** Throws a TargetRefusal. */
export async function endpointTarget(
  deps: Pick<ApiDeps, 'platformApplications' | 'platformEndpoints'>,
  target: string,
): Promise<DirectTarget> {
  const named = parsePlatformEndpointArn(target)
  if (!named || !isPlatform(named.platform)) throw noEndpoint()
  const { application: owner, platform } = named
  const [application, endpoint] = await Promise.all([
    deps.platformApplications.get(owner),
    deps.platformEndpoints.get(target),
  ])
  if (!application || !endpoint) throw noEndpoint()
  if (application.attributes.Enabled !== 'true') {
    throw new TargetRefusal('applicationDisabled', 'Platform application is disabled')
  }
  if (!endpoint.enabled) throw new TargetRefusal('endpointDisabled', 'Endpoint is disabled')
  const laneKey = platform === 'WEBPUSH' ? pushServiceOf(endpoint.token) : target
  const sharedEndpoint = platformEndpointArn(owner, NO_ENDPOINT)
  return { target, protocol: 'application', owner, platform, laneKey, sharedEndpoint }
}

function noEndpoint(): TargetRefusal {
  return new TargetRefusal('noEndpoint', 'No endpoint found for the target arn specified')
}

/**
 * The push service of a browser. Each maker of browsers runs one. If it hangs, it hangs for all browsers of this maker.
 */
function pushServiceOf(token: string): string {
  const { endpoint } = JSON.parse(token) as { endpoint: string }
  return new URL(endpoint).host
}
