/** Where a redrive without a destination leads: to the queues and topics whose dead letters its source takes. */

import type { Target } from '@fantail/access'
import { FantailError, parseArn, withoutSubscription } from '@fantail/contracts'
import type { ApiDeps } from '../deps.ts'
import { deadLetterSources } from '../redrives/dead-letter-sources.ts'

/** Says nothing of which they are: the caller has named the source only. */
const NOT_ALL =
  'the source takes dead letters of topics or queues that the key may not send to: name a destination'

/** By their names alone: what comes back was theirs before, so that no policy has to let it in again. */
export async function originsOf(deps: ApiDeps, source: string): Promise<Target[]> {
  const arns = (await deadLetterSources(deps, source)).map(withoutSubscription)
  return [...new Set(arns)].map((arn) => ({
    action: parseArn(arn)?.service === 'sqs' ? 'SQS:SendMessage' : 'SNS:Publish',
    arn,
    byName: true,
    hidden: { error: new FantailError('forbidden', NOT_ALL) },
  }))
}
