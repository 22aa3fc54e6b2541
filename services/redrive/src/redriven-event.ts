/** The live event of a dead letter that was sent again. */
import { parseArn } from '@fantail/contracts'
import type { LiveSender } from '@fantail/store'
import type { SentLetter } from './run-redrive.ts'

/** Does nothing without listeners. `now`: epoch ms by Redis's clock. */
export function reportSent(live: LiveSender, { letter, edited }: SentLetter, now: number): void {
  if (!live.on) return
  const { topicArn, subscriptionArn } = letter
  const subscriptionId = parseArn(subscriptionArn)?.subscriptionId ?? null
  const facts = { type: 'redriven', topicArn, subscriptionId } as const
  live.send(facts, () => ({
    ...facts,
    at: now,
    messageId: edited?.messageId ?? letter.messageId,
    redrives: edited ? 0 : letter.generation + 1,
    ...(edited && { editedFrom: letter.messageId }),
  }))
}
