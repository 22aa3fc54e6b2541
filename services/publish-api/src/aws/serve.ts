/**
 * Serves one AWS request: reads it, finds the operation, decodes the input, runs it, writes the answer. Every error
 * becomes an answer.
 */
import type { Caller } from '@fantail/access'
import {
  AwsError,
  type AwsService,
  decodeJson,
  decodeQuery,
  jsonAnswer,
  jsonError,
  type Operation,
  queryJsonAnswer,
  queryJsonError,
  type WireAnswer,
  xmlAnswer,
  xmlError,
  xmlErrorOfOther,
} from '@fantail/aws-wire'
import { FantailError } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Answer, Call } from '../http/endpoint.ts'
import type { CountedAs } from '../http/request-times.ts'
import { createAuthenticate, createReadRequest } from './authenticate.ts'
import { createAwsGuard, type OperationGuard } from './aws-guard.ts'
import { snsOperations, sqsOperations, stsOperations } from './aws-operations.ts'
import { awsCallOf, openNextToken, withNextToken } from './wire/call.ts'
import { type OtherService, otherServiceOf, toAwsError } from './wire/thrown-errors.ts'
import {
  formOf,
  isQueuePath,
  jsonTextOf,
  readHead,
  type WireForm,
  type WireRequest,
} from './wire/wire-request.ts'

const SERVED =
  'This endpoint serves Amazon SNS (AWS Query), Amazon SQS (AWS JSON 1.0 and AWS Query) and GetCallerIdentity of STS'

const HEAD_REFUSED = 'A HEAD performs no operation. Use GET or POST.'

type Operations = Record<AwsService, Map<string, KnownOperation>>

interface KnownOperation {
  operation: Operation
  countedAs: CountedAs
  guard: OperationGuard
}

/** Answers any request to the AWS protocols. Never rejects. */
export function createAwsApi(deps: ApiDeps): (call: Call) => Promise<Answer> {
  const guardOf = createAwsGuard(deps)
  const operations: Operations = {
    sns: byName('sns', snsOperations(deps), guardOf),
    sqs: byName('sqs', sqsOperations(deps), guardOf),
    sts: byName('sts', stsOperations(), guardOf),
  }
  const authenticate = createAuthenticate(deps)
  const readRequest = createReadRequest(deps, authenticate)
  return async (call) => {
    const { request, requestId } = call
    let form: WireForm = formOf(request)
    let action: string | undefined
    let countedAs: CountedAs | undefined
    let other: OtherService | undefined
    let known: KnownOperation | undefined
    let caller: Caller = null
    let input: Record<string, unknown> = {}
    try {
      const head = readHead(request)
      form = head
      const wire = await readRequest(request, head)
      action = wire.action
      if (isBareQueue(wire, request.method)) return unknownOperation(requestId)
      const service = serviceFor(wire, operations)
      wire.service = service
      form = wire
      known = operations[service].get(action ?? '')
      other = otherServiceOf(wire, request, known !== undefined)
      if (other) throw notServed(other)
      countedAs = known?.countedAs
      caller = await authenticate(request, wire)
      const admitted = deps.rateLimits.admit(caller)
      if (admitted) await admitted
      const operation = operationOf(wire, known)
      input = inputOf(wire, operation)
      openNextToken(input)
      const awsCall = awsCallOf(deps, call, wire, caller)
      const permitted = known?.guard.permit({ caller, input, call: awsCall, request })
      if (permitted) await permitted
      // Programs that check links send it. It must change nothing, and would lose the messages that it receives.
      if (request.method === 'HEAD') throw new AwsError('InvalidAction', HEAD_REFUSED)
      const done = await operation.run(input, awsCall)
      const result = withNextToken(known?.guard.shown(done, caller))
      known?.guard.report({ caller, request, requestId, input, status: 200 })
      return counted(answerOf(form, { requestId, operation, result }), countedAs)
    } catch (thrown) {
      const error = toAwsError(thrown, { service: form.service, requestId }, deps.log)
      known?.guard.report({ caller, request, requestId, input, status: error.status, code: error.code })
      reportRefusal(deps.log, { requestId, service: form.service, action, code: error.code })
      return counted(refusalOf(form, error, { requestId, other }), countedAs)
    }
  }
}

function byName(
  service: AwsService,
  operations: Operation[],
  guardOf: ReturnType<typeof createAwsGuard>,
): Map<string, KnownOperation> {
  const known = (operation: Operation): KnownOperation => ({
    operation,
    guard: guardOf(service, operation.name),
    countedAs: { method: '', path: `aws:${service}:${operation.name}` },
  })
  return new Map(operations.map((operation) => [operation.name, known(operation)]))
}

/** Adds to the answer object itself, without a copy. */
function counted(answer: Answer, countedAs: CountedAs | undefined): Answer {
  answer.countedAs = countedAs
  return answer
}

/** A handwritten request may name no service. Its Action then decides. */
function serviceFor(wire: WireRequest, operations: Operations): AwsService {
  const { service, action = '', version, authorization } = wire
  if (version !== undefined || authorization !== undefined || service === 'sqs') return service
  return !operations.sns.has(action) && operations.sqs.has(action) ? 'sqs' : service
}

/** Actions of SQS that are not valid at a queue's URL (recorded from AWS). */
const NOT_AT_QUEUES = new Set(['CreateQueue', 'ListQueues'])

function operationOf({ action, protocol, path }: WireRequest, known: KnownOperation | undefined): Operation {
  if (action === undefined) {
    throw new AwsError('MissingAction', 'The request must contain the parameter Action.')
  }
  const misplaced = protocol === 'query' && isQueuePath(path) && NOT_AT_QUEUES.has(action)
  if (known && !misplaced) return known.operation
  throw new AwsError('InvalidAction', `The action ${action} is not valid for this endpoint.`)
}

/** Whether a browser has opened a queue's URL without an Action. */
function isBareQueue({ action, protocol, path }: WireRequest, method: string): boolean {
  return method === 'GET' && protocol === 'query' && action === undefined && isQueuePath(path)
}

/** The answer to an unknown operation. It is the same in every protocol, as recorded from SQS. */
function unknownOperation(requestId: string): Answer {
  const headers = { 'Content-Type': 'text/xml', 'x-amzn-RequestId': requestId }
  return { status: 404, text: '<UnknownOperationException/>\n', headers }
}

function notServed({ called }: OtherService): AwsError {
  return new AwsError('InvalidAction', `${SERVED}, not ${called}.`)
}

function inputOf(wire: WireRequest, { input }: Operation): Record<string, unknown> {
  return wire.protocol === 'json' ? decodeJson(jsonTextOf(wire), input) : decodeQuery(wire.parameters, input)
}

interface Done {
  requestId: string
  operation: Operation
  result: Record<string, unknown> | undefined
}

function answerOf({ service, protocol, answers }: WireForm, done: Done): WireAnswer {
  if (protocol === 'json') return jsonAnswer(done)
  return answers === 'json' ? queryJsonAnswer(done) : xmlAnswer({ ...done, service })
}

/** Logs the refusal, because the access log has only path and status. */
function reportRefusal(log: ApiDeps['log'], refusal: object): void {
  if (log.isLevelEnabled('debug')) log.debug(refusal, 'aws.refused')
}

interface Refused {
  requestId: string
  other: OtherService | undefined
}

function refusalOf(form: WireForm, error: AwsError, { requestId, other }: Refused): WireAnswer {
  const answer = refusalIn(form, error, { requestId, other })
  const { cause } = error
  if (error.status === 503) answer.headers['Retry-After'] = '1'
  else if (cause instanceof FantailError && cause.retryAfterSeconds !== undefined) {
    answer.headers['Retry-After'] = String(cause.retryAfterSeconds)
  }
  return answer
}

function refusalIn(
  { service, protocol, answers }: WireForm,
  error: AwsError,
  { requestId, other }: Refused,
): WireAnswer {
  if (protocol === 'json') return jsonError(error, requestId)
  if (answers === 'json') return queryJsonError(error, requestId)
  return other
    ? xmlErrorOfOther(error, { service: other.service, requestId })
    : xmlError(error, { service, requestId })
}
