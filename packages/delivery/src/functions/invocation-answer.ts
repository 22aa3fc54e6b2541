/**
 * Reads the answer to an invocation beyond its status.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors
 */
import { objectOf } from '@fantail/contracts'
import { withoutTokens } from '@fantail/policy'
import { errorNameOf, isCredentialError, NAME_HEADERS } from '../aws/aws-credentials.ts'

interface InvocationAnswer {
  statusCode: number
  /** Names in lower case. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Undefined if the body is too long to be read. */
  body?: Buffer | undefined
}

export interface ReadInvocation {
  requestId: string | undefined
  /**
   * function: the function ran and failed. credentials: AWS refuses our credentials, so no function can be invoked with
   * them. Undefined: the status alone describes the result.
   */
  problem: 'function' | 'credentials' | undefined
  /** Name of the exception, or of the function's own error. */
  errorType: string | undefined
  errorMessage: string | undefined
}

/** Headers that are read. */
export const INVOCATION_HEADERS: readonly string[] = [
  ...NAME_HEADERS,
  'x-amzn-requestid',
  'x-amz-function-error',
]

export function readInvocation({ statusCode, headers = {}, body }: InvocationAnswer): ReadInvocation {
  const value = body === undefined ? {} : (objectOf(body.toString()) ?? {})
  const requestId = headers['x-amzn-requestid']
  const ran = statusCode >= 200 && statusCode < 300
  return { requestId, ...(ran ? outcome(headers, value) : refusal(statusCode, headers, value)) }
}

type Headers = Readonly<Record<string, string>>
type Value = Record<string, unknown>
type Said = Omit<ReadInvocation, 'requestId'>

/** Lambda names a function's error in a header. Its Runtime Interface Emulator has only `errorType` in the body. */
function outcome(headers: Headers, value: Value): Said {
  const errorType = textIn(value, 'errorType') ?? headers['x-amz-function-error']
  if (errorType === undefined) return { problem: undefined, errorType, errorMessage: undefined }
  return { problem: 'function', errorType, errorMessage: textIn(value, 'errorMessage') }
}

function refusal(statusCode: number, headers: Headers, value: Value): Said {
  const errorType = errorNameOf(headers, value)
  const errorMessage = textIn(value, 'message') ?? textIn(value, 'Message')
  const problem = isCredentialError(statusCode, errorType) ? 'credentials' : undefined
  return { problem, errorType, errorMessage }
}

function textIn(value: Value, member: string): string | undefined {
  const text = value[member]
  return typeof text === 'string' ? withoutTokens(text) : undefined
}
