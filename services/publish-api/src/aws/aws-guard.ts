/** The checks before and after every operation of the AWS APIs if keys are required. */
import {
  Access,
  auditLog,
  type Caller,
  Cursors,
  type Key,
  needScope,
  needServer,
  reportChange,
  type Target,
} from '@fantail/access'
import type { AwsCall, AwsInput, AwsService } from '@fantail/aws-wire'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'
import { awsRuleOf } from './aws-rules.ts'

interface Operated {
  caller: Caller
  input: AwsInput
  call: AwsCall
  request: Call['request']
}

export interface OperationGuard {
  /** Throws or rejects with `forbidden`. An anonymous caller, who follows a link, may use the operations of links. */
  permit(operated: Operated): void | Promise<void>
  /** The result without items that the caller may not see. */
  shown(result: Record<string, unknown> | undefined, caller: Caller): Record<string, unknown> | undefined
  report(ended: EndedOperation): void
}

interface EndedOperation {
  caller: Caller
  request: Call['request']
  requestId: string
  input: AwsInput
  status: number
  code?: string
}

export function createAwsGuard(deps: ApiDeps): (service: AwsService, operation: string) => OperationGuard {
  const access = new Access(deps)
  const cursors = new Cursors(deps.keys)
  const log = auditLog(deps)
  return (service, operation) => {
    const rule = awsRuleOf(service, operation)
    return {
      permit: ({ caller, input, call, request }) => {
        if (caller === null) return
        // A malformed name is refused before the right to it, as in AWS.
        const targets = rule.targets?.(input, call, deps.settings) ?? []
        needScope(caller, rule.need)
        if (rule.wholeServer) needServer(caller, deps.settings.arn.account)
        const permit = (target: Target) => access.permit(caller, target, request)
        const pending = targets.map(permit).filter((one) => one !== undefined)
        const further = isBound(caller) ? rule.further?.(input, deps) : undefined
        if (further)
          pending.push(further.then((found) => Promise.all(found.map(permit)).then(() => undefined)))
        if (rule.list && isBound(caller)) return openToken(input, cursors, pending)
        if (pending.length > 0) return Promise.all(pending).then(() => undefined)
      },
      shown: (result, caller) =>
        rule.list && result && caller && isBound(caller)
          ? { ...result, ...ownOf(result, rule.list, { key: caller, cursors }) }
          : result,
      report: ({ input, request: { remoteAddress: address }, ...ended }) => {
        if (!rule.change) return
        const action = `${service.toUpperCase()}:${operation}`
        const denied = ended.code === 'RequestThrottled' ? false : undefined
        reportChange(log, { ...ended, address, action, params: namesIn(input), denied })
      },
    }
  }
}

/** Whether a list must be filtered for the key. A key without prefixes sees all of its account. */
function isBound({ prefixes }: Key): boolean {
  return prefixes.length > 0
}

/** Replaces a sealed token in the input by the cursor that it contains. */
async function openToken(input: AwsInput, cursors: Cursors, permitted: Promise<void>[]): Promise<void> {
  await Promise.all([cursors.ready(), ...permitted])
  if (typeof input.NextToken === 'string') input.NextToken = await cursors.open(input.NextToken)
}

interface Shown {
  key: Key
  cursors: Cursors
}

function ownOf(
  result: Record<string, unknown>,
  { member, nameOf }: { member: string; nameOf: (item: unknown) => string },
  { key, cursors }: Shown,
): Record<string, unknown> {
  const { [member]: items, NextToken: next } = result
  if (!Array.isArray(items)) return {}
  return {
    [member]: items.filter((item) => key.prefixes.some((prefix) => nameOf(item).startsWith(prefix))),
    ...(typeof next === 'string' && { NextToken: cursors.seal(next) }),
  }
}

const NAMES = [
  'TopicArn',
  'Name',
  'ResourceArn',
  'SubscriptionArn',
  'QueueUrl',
  'QueueName',
  'SourceArn',
  'DestinationArn',
  'PlatformApplicationArn',
  'EndpointArn',
  'Platform',
  'AttributeName',
  'Label',
]

/** The names in the input, for the audit log. Values of settings are left out. */
function namesIn(input: AwsInput): Record<string, string> {
  return Object.fromEntries(
    NAMES.flatMap((name) => (input[name] === undefined ? [] : [[name, String(input[name])]])),
  )
}
