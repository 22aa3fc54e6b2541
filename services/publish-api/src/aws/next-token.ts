/**
 * NextToken of lists: padded Base64, as recorded of AWS, around the store's own cursor (a sealed one for keys that are
 * bound to names). Done for all operations at once, before their input is judged and after their result is cut.
 */
import type { AwsInput } from '@fantail/aws-wire'

type Result = Record<string, unknown> | undefined

/** Replaces the token by the cursor inside. Any other text stays, for the operation to refuse. */
export function openNextToken(input: AwsInput): void {
  const { NextToken: token } = input
  if (typeof token !== 'string') return
  const cursor = Buffer.from(token, 'base64')
  if (token !== '' && cursor.toString('base64') === token) input.NextToken = cursor.toString()
}

/** The result with its cursor as a token. */
export function withNextToken(result: Result): Result {
  if (typeof result?.NextToken !== 'string') return result
  return { ...result, NextToken: Buffer.from(result.NextToken).toString('base64') }
}
