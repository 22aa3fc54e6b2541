/**
 * NextToken of lists: the store's cursor (a sealed one for restricted keys) in padded Base64, as AWS does. It is
 * converted here for all operations: before their input is checked, and after their result is filtered.
 */
import type { AwsInput } from '@fantail/aws-wire'

/** @limit Token of a list over the AWS protocols. Past it: the request is refused. */
const NEXT_TOKEN_CHARS_MAX = 8_192

type Result = Record<string, unknown> | undefined

/** Replaces the token by the cursor that it contains. Any other text stays, so that the operation refuses it. */
export function openNextToken(input: AwsInput): void {
  const { NextToken: token } = input
  if (typeof token !== 'string' || token.length > NEXT_TOKEN_CHARS_MAX) return
  const cursor = Buffer.from(token, 'base64')
  if (token !== '' && cursor.toString('base64') === token) input.NextToken = cursor.toString()
}

/** Replaces the result's cursor by a token. */
export function withNextToken(result: Result): Result {
  if (typeof result?.NextToken !== 'string') return result
  return { ...result, NextToken: Buffer.from(result.NextToken).toString('base64') }
}
