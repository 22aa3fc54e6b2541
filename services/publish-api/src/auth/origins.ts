/** The targets of a redrive without a destination: the queues and topics whose dead letters its source receives. */

import type { Target } from '@fantail/access'
import { FantailError, parseArn, withoutSubscription } from '@fantail/contracts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { deadLetterSources } from '../redrives/dead-letter-sources.ts'

/** The error names none of the queues and topics, because the caller has only named the source. */
const NOT_ALL =
  'the source takes dead letters of topics or queues that the key may not send to: name a destination'

/**
 * Only their names are checked. The messages came from these queues and topics, so no policy has to allow them again.
 */
export async function originsOf(deps: ApiDeps, source: string): Promise<Target[]> {
  const arns = (await deadLetterSources(deps, source)).map(withoutSubscription)
  return [...new Set(arns)].map((arn) => ({
    action: parseArn(arn)?.service === 'sqs' ? 'SQS:SendMessage' : 'SNS:Publish',
    arn,
    byName: true,
    hidden: { error: new FantailError('forbidden', NOT_ALL) },
  }))
}
