/**
 * Checks the settings of a file by the server's own rules, so that a refused setting changes nothing. The server alone
 * knows the rules that depend on what it has, such as a quota.
 */
import {
  ARN_DEFAULTS,
  FantailError,
  type FilterPolicyScope,
  isObject,
  problemsOf,
  resolveQueue,
  resolveTopic,
} from '@fantail/contracts'
import { StateFile } from '@fantail/contracts/schemas/overview/state-schemas'
import { checkDeliveryPolicy, FilterPolicyError, parseFilterPolicy } from '@fantail/policy'
import type { State } from './state-file.ts'
import type { Path, PlacedProblem } from './state-parse.ts'

const FILTER_POLICY_SCOPES: readonly FilterPolicyScope[] = ['MessageAttributes', 'MessageBody']

/** The first problem. undefined: there is none. */
export function settingProblem(file: State): PlacedProblem | undefined {
  return fileProblems(file).next().value
}

function* fileProblems(file: State): Generator<PlacedProblem, undefined> {
  yield* schemaProblems(file)
  yield* nameProblems(file)
  yield* policyProblems(file)
}

function* schemaProblems(file: State): Generator<PlacedProblem> {
  const { error } = StateFile.safeParse(file)
  const [issue] = error?.issues ?? []
  const [problem] = error ? problemsOf(error) : []
  if (!issue || !problem) return
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
  yield [issue.code === 'unrecognized_keys' ? [...path, issue.keys[0] ?? ''] : path, problem.message]
}

function* nameProblems({ queues, topics }: State): Generator<PlacedProblem> {
  for (const [q, { name }] of queues.entries()) yield* nameProblem(name, ['queues', q, 'name'], resolveQueue)
  for (const [t, { name }] of topics.entries()) yield* nameProblem(name, ['topics', t, 'name'], resolveTopic)
}

function* nameProblem(name: string, at: Path, resolve: typeof resolveTopic): Generator<PlacedProblem> {
  try {
    resolve(name, ARN_DEFAULTS)
  } catch (error) {
    if (!(error instanceof FantailError)) throw error
    yield [at, error.details?.[0]?.message ?? error.message]
  }
}

function* policyProblems({ topics }: State): Generator<PlacedProblem> {
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
