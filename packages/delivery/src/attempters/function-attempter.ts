/**
 * Makes attempts at functions. An attempt asks the function's service to invoke the function, and succeeds when the
 * service accepts that.
 */
import type { AttemptResult } from '@fantail/contracts'
import type { AwsCredentials } from '../aws/aws-credentials.ts'
import { AwsSigner } from '../aws/aws-signer.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import { FunctionCalls, type FunctionCallsOptions, type Invocation } from '../functions/function-calls.ts'
import type { ReadInvocation } from '../functions/invocation-answer.ts'
import { renderSnsEvent } from '../functions/sns-event.ts'
import type { FurtherRequest } from '../http/http-request.ts'
import type { Attempt, AttemptDone, Attempter, Outgoing } from './attempter.ts'

export interface FunctionEndpointSettings {
  /** FANTAIL_FUNCTIONS */
  functions?: Readonly<Record<string, string>> | undefined
  /** FANTAIL_AWS_CREDENTIALS */
  awsClientCredentials?: AwsCredentials | undefined
  /** FANTAIL_AWS_TARGETS */
  awsTargets?: readonly string[] | undefined
}

type CallTools = Pick<FunctionCallsOptions, 'sender' | 'clock'>

/** Undefined if the settings name no function. */
export function createFunctionCalls(
  { sender, clock }: CallTools,
  { functions, awsClientCredentials: credentials, awsTargets: targets = [] }: FunctionEndpointSettings,
): FunctionCalls | undefined {
  if (!functions && !credentials) return undefined
  const aws = credentials && new AwsSigner({ credentials, targets })
  return new FunctionCalls({ sender, clock, functions: { functions, aws } })
}

export class FunctionAttempter implements Attempter {
  readonly #calls: FunctionCalls

  constructor(calls: FunctionCalls) {
    this.#calls = calls
  }

  refusalOf(endpoint: string): string | undefined {
    return this.#calls.refusalOf(endpoint)
  }

  credentialOf({ url }: EndpointTarget): string {
    return this.#calls.credentialOf(url)
  }

  contentOf({ envelope }: Outgoing, target: EndpointTarget): string {
    return renderSnsEvent(envelope, target)
  }

  /** Connections stay open between invocations. */
  openAhead(): void {}

  attempt(attempt: Attempt, done: AttemptDone, again?: (further: FurtherRequest) => void): void {
    const { envelope, target, delivery, traceparent, textBytesMax, earlier, onRequest, moment } = attempt
    const body = renderSnsEvent(envelope, target, delivery)
    const invocation: Invocation = {
      arn: target.url,
      type: 'Event',
      body,
      traceparent,
      earlier,
      onRequest,
      moment,
    }
    const ended = (result: AttemptResult, read?: ReadInvocation) => done(withText(result, read, textBytesMax))
    this.#calls.invoke(invocation, ended, again)
  }

  /** The sender is shared, and its creator closes it. */
  async close(): Promise<void> {}
}

/** Adds a text for the delivery status log: the id of the request and the error. The rest of the answer is dropped. */
function withText(
  result: AttemptResult,
  read: ReadInvocation | undefined,
  textBytesMax: number | undefined,
): AttemptResult {
  if (result.kind !== 'response') return result
  const { body: _, headers: __, ...plain } = result
  if (textBytesMax === undefined) return plain
  const { errorType: ErrorCode, errorMessage: ErrorMessage, requestId: lambdaRequestId } = read ?? {}
  return { ...plain, text: JSON.stringify({ ErrorCode, ErrorMessage, lambdaRequestId }) }
}
