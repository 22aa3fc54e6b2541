/** The operations of Amazon SQS's API that are served, one group per file. */
import type { Operation } from '@fantail/aws-wire'
import type { ApiDeps } from '../../deps.ts'

export function sqsOperations(_deps: ApiDeps): Operation[] {
  return []
}
