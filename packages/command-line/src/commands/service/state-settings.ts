/**
 * Checks the settings of a file by the server's own rules, so that a refused setting changes nothing. The server alone
 * knows the rules that depend on what it has, such as a quota.
 */
import {
  type FilterPolicyScope,
  isObject,
  isQueueName,
  isTopicName,
  parseArn,
  problemsOf,
} from '@fantail/contracts'
import { StateFile } from '@fantail/contracts/schemas/overview/state-schemas'
import { checkDeliveryPolicy, FilterPolicyError, parseFilterPolicy } from '@fantail/policy'
import type { State } from './state-file.ts'
import type { Path, PlacedProblem } from './state-parse.ts'

const FILTER_POLICY_SCOPES: readonly FilterPolicyScope[] = ['MessageAttributes', 'MessageBody']

/** The first problem. undefined: there is none. */
export function settingProblem(file: State): PlacedProblem | undefined {
  return (
    schemaProblem(file) ?? nameProblems(file).next().value ?? policyProblems(file).next().value ?? undefined
  )
}

function schemaProblem(file: State): PlacedProblem | undefined {
  const { error } = StateFile.safeParse(file)
  const [issue] = error?.issues ?? []
  const [problem] = error ? problemsOf(error) : []
  if (!issue || !problem) return undefined
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
  return [issue.code === 'unrecognized_keys' ? [...path, issue.keys[0] ?? ''] : path, problem.message]
}

function* nameProblems({ queues, topics }: State): Generator<PlacedProblem, undefined> {
  const wanted = (chars: number, kind: string) =>
    `must be 1 to ${chars} of A-Z a-z 0-9 _ -, with .fifo after them for a FIFO ${kind}, or an ARN`
  for (const [q, { name }] of queues.entries())
    if (!isQueueName(name) && parseArn(name)?.service !== 'sqs')
      yield [['queues', q, 'name'], wanted(80, 'queue')]
  for (const [t, { name }] of topics.entries())
    if (!isTopicName(name) && parseArn(name)?.service !== 'sns')
      yield [['topics', t, 'name'], wanted(256, 'topic')]
}

function* policyProblems({ topics }: State): Generator<PlacedProblem, undefined> {
  for (const [t, { settings, subscriptions }] of topics.entries()) {
    yield* deliveryPolicyProblems(settings, ['topics', t, 'settings'])
    for (const [s, { settings }] of subscriptions.entries()) {
      const at = ['topics', t, 'subscriptions', s, 'settings']
      yield* deliveryPolicyProblems(settings, at)
      yield* filterProblems(settings, at)
    }
  }
}

function* deliveryPolicyProblems(settings: Settings, at: Path): Generator<PlacedProblem> {
  const { deliveryPolicy: policy } = settings ?? {}
  if (policy === undefined || policy === null) return
  for (const { path, message } of checkDeliveryPolicy(policy, {
    path: 'deliveryPolicy',
    contentTypes: 'raw',
  }))
    yield [[...at, ...path.split('.')], message]
}

/** Without a scope in the file, the server may have either. */
function* filterProblems(settings: Settings, at: Path): Generator<PlacedProblem> {
  const { filterPolicy: policy, filterPolicyScope: scope } = settings ?? {}
  if (!isObject(policy)) return
  const scopes = FILTER_POLICY_SCOPES.filter((one) => scope === undefined || one === scope)
  const [first, ...others] = scopes.map((one) => filterProblem(policy, one))
  if (first !== undefined && others.every((problem) => problem !== undefined))
    yield [[...at, 'filterPolicy'], `is refused: ${first}`]
}

function filterProblem(policy: Record<string, unknown>, scope: FilterPolicyScope): string | undefined {
  try {
    parseFilterPolicy(policy, scope)
    return undefined
  } catch (error) {
    if (!(error instanceof FilterPolicyError)) throw error
    return error.explained
  }
}

type Settings = Record<string, unknown> | undefined
