/**
 * What stands before and after every route of the REST API: who calls, within its limit; whether it may; what of a list it
 * sees; and the audit line of a change. Where keys are not asked for (local mode, on loopback) everybody may do everything.
 */
import { FantailError, isQueueName, isTopicName, queueArn, topicArn } from '@fantail/contracts'
import type { ApiDeps } from '../deps.ts'
import type { ApiRequest } from '../http/api-request.ts'
import type { Answer, Call, Endpoint } from '../http/endpoint.ts'
import { Access, isOf } from './access.ts'
import { auditLog, tellChange } from './audit.ts'
import { bearerOf } from './bearer.ts'
import { type Caller, type Key, needAllNames, needScope } from './caller.ts'
import { Cursors } from './cursors.ts'
import { createForeignPages, type ForeignPages } from './foreign-page.ts'
import { type Rule, ruleOf } from './native-rules.ts'

/** Of one route. */
export interface RouteGuard {
  /** Before the body is read; throws or rejects with `unauthorized`, `forbidden`, `rate_limited`. */
  admit(request: ApiRequest): Caller | Promise<Caller>
  /** With the input, before anything is done; throws or rejects with `forbidden`. */
  permit(call: Call): void | Promise<void>
  /** The answer as the caller may see it. */
  shown(answer: Answer, call: Call): Answer
  /** Tells of a change, or of one that was refused. */
  tell(call: Told, outcome: { status: number; code?: string; body?: unknown }): void
}

export type Told = Pick<Call, 'caller' | 'requestId' | 'params'>

export function createGuard(deps: ApiDeps): (endpoint: Endpoint) => RouteGuard {
  const access = new Access(deps)
  const foreign = createForeignPages(deps.settings)
  const cursors = new Cursors(deps.keys)
  return (endpoint) => guardOf(endpoint, ruleOf(endpoint), { deps, access, foreign, cursors })
}

interface Tools {
  deps: ApiDeps
  access: Access
  foreign: ForeignPages
  cursors: Cursors
}

const NOBODY_ASKED: Pick<RouteGuard, 'admit' | 'permit' | 'shown'> = {
  admit: () => null,
  permit: () => undefined,
  shown: (answer) => answer,
}

function guardOf(endpoint: Endpoint, rule: Rule, { deps, access, foreign, cursors }: Tools): RouteGuard {
  const log = auditLog(deps)
  const tell: RouteGuard['tell'] = rule.change
    ? ({ params, ...call }, { status, code, body }) => {
        const action = `${endpoint.method} ${endpoint.path}`
        tellChange(log, { ...call, action, params: { ...params, ...madeIn(body) }, status, code })
      }
    : () => undefined
  const open =
    rule.need === 'public' || rule.need === 'own' || (rule.wholeServer && deps.settings.openMetrics)
  if (open) return { ...NOBODY_ASKED, tell }
  if (!deps.settings.auth) return { ...NOBODY_ASKED, admit: (request) => ownPage(request, foreign), tell }
  return {
    admit: (request) => admit(request, rule, deps),
    permit: (call) => {
      const { caller, params } = call
      if (caller === null) return
      if (caller.account !== deps.settings.arn.account) nameInFull(params, caller, deps)
      const permitted = permitAll(rule.targets?.(call, deps) ?? [], {
        key: caller,
        request: call.request,
        access,
      })
      return rule.list ? turnTo(call, cursors, permitted) : permitted
    },
    shown: (answer, { caller }) =>
      rule.list && caller ? ownOf(answer, rule.list, { key: caller, cursors }) : answer,
    tell,
  }
}

function ownPage(request: ApiRequest, foreign: ForeignPages): null {
  const refusal = foreign(request)
  if (refusal) throw refusal
  return null
}

/** What a path does not name yet. */
function madeIn(body: unknown): { id?: string } {
  const { id } = (body ?? {}) as { id?: unknown }
  return typeof id === 'string' ? { id } : {}
}

function admit(request: ApiRequest, rule: Rule, deps: ApiDeps): Caller | Promise<Caller> {
  const caller = bearerOf(request, deps.keyCache)
  return caller instanceof Promise
    ? caller.then((found) => admitted(found, rule, deps))
    : admitted(caller, rule, deps)
}

/** The limit counts what is refused for want of a scope, too. */
function admitted(caller: Caller, rule: Rule, { rateLimits, settings }: ApiDeps): Caller | Promise<Caller> {
  const counted = rateLimits.admit(caller)
  if (counted) return counted.then(() => scoped(caller, rule, settings))
  return scoped(caller, rule, settings)
}

function scoped(
  caller: Caller,
  { need, wholeAccount, wholeServer }: Rule,
  settings: ApiDeps['settings'],
): Caller {
  if (caller === null || typeof need === 'string') return caller
  needScope(caller, need)
  if (wholeAccount || wholeServer) needAllNames(caller)
  if (wholeServer && caller.account !== settings.arn.account) {
    throw new FantailError('forbidden', `this is for keys of account ${settings.arn.account}`)
  }
  return caller
}

/** Plain names in a path are names in the account of the key. */
function nameInFull(params: Record<string, string>, { account }: Key, { settings }: ApiDeps): void {
  const place = { ...settings.arn, account }
  const { topic, queue } = params
  if (topic !== undefined && isTopicName(topic)) params.topic = topicArn(topic, place)
  if (queue !== undefined && isQueueName(queue)) params.queue = queueArn(queue, place)
}

interface Asked {
  key: Key
  request: ApiRequest
  access: Access
}

type Targets = Awaited<ReturnType<NonNullable<Rule['targets']>>>

function permitAll(targets: Targets | Promise<Targets>, asked: Asked): void | Promise<void> {
  if (targets instanceof Promise) return targets.then((found) => permitEach(found, asked))
  return permitEach(targets, asked)
}

function permitEach(targets: Targets, { key, request, access }: Asked): void | Promise<void> {
  const pending = targets
    .map((target) => access.permit(key, target, request))
    .filter((one) => one !== undefined)
  if (pending.length > 0) return Promise.all(pending).then(() => undefined)
}

/** The page that a sealed cursor names. */
async function turnTo({ query }: Call, cursors: Cursors, permitted: void | Promise<void>): Promise<void> {
  await permitted
  await cursors.ready()
  const asked = (query ?? {}) as { cursor?: unknown }
  if (typeof asked.cursor === 'string') asked.cursor = await cursors.open(asked.cursor)
}

interface Shown {
  key: Key
  cursors: Cursors
}

function ownOf(answer: Answer, { member, arn }: NonNullable<Rule['list']>, { key, cursors }: Shown): Answer {
  const body = answer.body as Record<string, unknown>
  const items = (body[member] as Record<string, unknown>[]).filter((item) => isOf(key, String(item[arn])))
  const { nextCursor: next } = body
  return {
    ...answer,
    body: { ...body, [member]: items, nextCursor: typeof next === 'string' ? cursors.seal(next) : null },
  }
}
