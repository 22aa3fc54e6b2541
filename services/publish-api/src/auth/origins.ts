/** Where a redrive without a destination leads: to the queues and topics whose dead letters its source takes. */
import { parseArn } from '@fantail/contracts'
import { deadLetterSources } from '../dead-letter-sources.ts'
import type { ApiDeps } from '../deps.ts'
import type { Target } from './access.ts'

/** By their names alone: what comes back was theirs before, so that no policy has to let it in again. */
export async function originsOf(deps: ApiDeps, source: string): Promise<Target[]> {
  const arns = (await deadLetterSources(deps, source)).map((arn) => {
    const id = parseArn(arn)?.subscriptionId
    return id === undefined ? arn : arn.slice(0, -id.length - 1)
  })
  return [...new Set(arns)].map((arn) => ({
    action: arn.split(':', 3)[2] === 'sqs' ? 'SQS:SendMessage' : 'SNS:Publish',
    arn,
    byName: true,
  }))
}
