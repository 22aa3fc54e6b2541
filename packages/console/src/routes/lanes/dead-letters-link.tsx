/** A link to the dead letters of a subscription. Nothing while there are none. */
import type { Queue, Subscription } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import { operations } from '../../api/api-calls.ts'
import { useRead } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { nameOf } from '../../parts/formats.ts'
import { ArnLink } from '../../parts/links.tsx'
import css from '../../parts/parts.module.css'

const w = words.remedy

export function DeadLettersLink({ subscription }: { subscription: Subscription }) {
  const queue = useLetterQueue(subscription)
  const { arn } = subscription
  const path = { queue: queue?.name ?? '' }
  const counts = useRead(operations.countDeadLetters, { path }, { enabled: queue !== undefined })
  // Other subscriptions may send to the same queue.
  const count = counts.data?.bySubscription[arn] ?? 0
  if (!queue || count === 0) return null
  return (
    <p className={css.notice}>
      <Link to="/dlq/$queue" params={{ queue: queue.name }} search={{ subscription: arn }}>
        {w.letters(count, queue.name)}
      </Link>
      {w.lettersWhat}
    </p>
  )
}

/** Where dead letters of the subscription go: a link, or the queue that the first of them creates. */
export function LetterQueue({ subscription }: { subscription: Subscription }) {
  const { redrivePolicy, topicArn } = subscription
  const arn = useLetterQueue(subscription)?.arn ?? redrivePolicy?.deadLetterTargetArn
  if (redrivePolicy === null) return words.subscription.discarded
  return arn ? <ArnLink arn={arn} own={topicArn} /> : words.subscription.ownQueue
}

/** The queue that the subscription names, or the queue of its topic. */
function useLetterQueue({ redrivePolicy, topicArn }: Subscription): Queue | undefined {
  const arn = redrivePolicy?.deadLetterTargetArn
  const path = { queue: nameOf(arn ?? '') }
  const named = useRead(operations.getQueue, { path }, { enabled: arn !== undefined })
  const isOwn = redrivePolicy !== null && arn === undefined
  const query = { prefix: beginningOfOwn(nameOf(topicArn)), limit: 100 }
  const own = useRead(operations.listQueues, { query }, { enabled: isOwn })
  if (isOwn) return own.data?.queues.find(({ deadLettersOf }) => deadLettersOf === topicArn)
  return named.error || named.data?.arn !== arn ? undefined : named.data
}

/** A topic with a longer name has a queue whose name begins with a part of it. */
const WHOLE_CHARS = 53

const beginningOfOwn = (topic: string) => {
  const stem = topic.replace(/\.fifo$/, '')
  return stem.length > WHOLE_CHARS ? stem.slice(0, WHOLE_CHARS) : `${stem}-dead-letters`
}
