/** A delivery step by step: each attempt with its answer, and the cause of each gap between them. */
import type { AttemptList, DeliveryList } from '@fantail/client/api'
import { operations } from '../../api/api-calls.ts'
import { SCREEN_REFRESH_MS, useRead } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { formatMs } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'
import { Badge, When } from '../../parts/show.tsx'
import { Loaded } from '../../parts/states.tsx'
import { type Attempt, AttemptAnswer, answerOf, toneOf, whyText } from './attempt-answer.tsx'
import own from './delivery-timeline.module.css'

const w = words.attempts

type Delivery = DeliveryList['deliveries'][number]

interface Props {
  messageId: string
  subscriptionId: string
  publishedAt: string
  delivery: Delivery
}

export function DeliveryTimeline({ messageId, subscriptionId, publishedAt, delivery }: Props) {
  const path = { messageId, id: subscriptionId }
  const read = useRead(operations.listDeliveryAttempts, { path }, { everyMs: SCREEN_REFRESH_MS })
  return (
    <Loaded read={read} rows={3}>
      {(list) => (
        <ol
          className={own.steps}
          aria-label={w.timeline(delivery.subscriptionName ?? delivery.endpoint ?? subscriptionId)}
        >
          <li>
            <time>{clockOf(publishedAt)}</time> {w.published}
          </li>
          <Unrecorded list={list} delivery={delivery} />
          {list.attempts.toReversed().map((attempt) => (
            <Step key={`${attempt.redrives} ${attempt.attempt}`} attempt={attempt} bodies={list.bodies} />
          ))}
          <End delivery={delivery} />
        </ol>
      )}
    </Loaded>
  )
}

/** Says that attempts were made but not recorded. Without this the page would look as if there were none. */
function Unrecorded({
  list: { attempts, recording, keptSince },
  delivery,
}: {
  list: AttemptList
  delivery: Delivery
}) {
  const missing = delivery.attempts - attempts.filter(({ redrives }) => redrives === delivery.redrives).length
  if (missing <= 0) return null
  return (
    <li className={css.quiet}>
      {w.unrecorded(missing)}{' '}
      {recording === 'none' ? w.isOffHere : recording === 'failures' ? w.onlyFailures : ''}{' '}
      {keptSince && recording === 'all' && (
        <>
          {w.keptSince} <When at={keptSince} />.
        </>
      )}
    </li>
  )
}

function Step({ attempt, bodies }: { attempt: Attempt; bodies: AttemptList['bodies'] }) {
  const { startedAt, durationMs, phase, detail, responseHeaders, cause, waited } = attempt
  return (
    <>
      {(cause !== null || (waited?.cause ?? null) !== null) && (
        <li className={own.gap}>{w.waited(whyText(attempt))}</li>
      )}
      <li>
        <time title={startedAt}>{clockOf(startedAt)}</time> {w.step(attempt.attempt, w.phases[phase])}{' '}
        <Badge tone={toneOf(attempt)}>{answerOf(attempt)}</Badge> {w.in(formatMs(durationMs))}
        {detail && <span className={css.quiet}> {detail}</span>}
        {responseHeaders && (
          <details>
            <summary>{w.showAnswer}</summary>
            <AttemptAnswer attempt={attempt} isWithheld={bodies === 'withheld'} />
          </details>
        )}
      </li>
    </>
  )
}

function End({ delivery }: { delivery: Delivery }) {
  const { state, endedAt, nextAttemptAt, cause, attemptsMax, attempts } = delivery
  const isOver = endedAt !== null
  return (
    <li>
      <strong>{words.message.states[state]}</strong>{' '}
      {isOver ? <When at={endedAt} /> : nextAttemptAt && <When at={nextAttemptAt} isDue />}
      {cause && state !== 'delivered' && <span className={css.quiet}> {cause}</span>}
      {!isOver && attemptsMax !== null && (
        <span className={css.quiet}> {w.attemptsLeft(Math.max(0, attemptsMax - attempts))}</span>
      )}
    </li>
  )
}

/** The time of day with milliseconds, because steps are often close together. */
function clockOf(at: string): string {
  return at.slice(11, 23)
}
