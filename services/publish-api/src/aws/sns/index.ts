/** The operations of Amazon SNS's API that are served, one group per file. */
import type { Operation } from '@fantail/aws-wire'
import type { ApiDeps } from '../../deps.ts'
import { publishOperations } from './publish.ts'

export function snsOperations(deps: ApiDeps): Operation[] {
  return [...publishOperations(deps)]
}
