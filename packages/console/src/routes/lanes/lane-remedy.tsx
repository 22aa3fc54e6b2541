/** The next step for a lane in trouble, in words, and the control that makes it. */
import type { Subscription } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { operations } from '../../api/api-calls.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { nameOf } from '../../parts/formats.ts'
import { MessageText } from '../../parts/message-text.tsx'
import { SteadyBox } from '../../parts/motion.tsx'
import css from '../../parts/parts.module.css'
import { When } from '../../parts/show.tsx'
import { Failed } from '../../parts/states.tsx'
import { DeadLettersLink } from './dead-letters-link.tsx'
import { ThrottleForm } from './throttle-form.tsx'

type Code = Subscription['verdict']['code']

const w = words.remedy
const PAUSED_BY = 'POST /v1/subscriptions/{id}/pause'

/** With these verdicts the form of the throttle helps. */
const PACED = new Set<Code>(['tooSlowIn', 'throttled'])

interface Props {
  subscription: Subscription
  /** Also says that nothing is wrong where nothing was. */
  saysFine?: boolean
}

/** The form stays once it was shown, so that no other control comes under the pointer after a change. */
export function LaneRemedy({ subscription, saysFine = false }: Props) {
  const { code } = subscription.verdict
  const [hasStep, setHasStep] = useState(saysFine)
  const [hasForm, setHasForm] = useState(false)
  if (!hasStep && w.steps[code] !== undefined) setHasStep(true)
  if (!hasForm && PACED.has(code)) setHasForm(true)
  const letters = <DeadLettersLink subscription={subscription} />
  if (!hasStep) return letters
  return (
    <SteadyBox>
      <NextStep subscription={subscription} />
      {letters}
      {hasForm && <ThrottleForm subscription={subscription} />}
    </SteadyBox>
  )
}

function NextStep({ subscription }: { subscription: Subscription }) {
  const { code } = subscription.verdict
  const step = w.steps[code]
  if (step === undefined) return <Mended code={code} />
  const isFine = code === 'throttled'
  return (
    <section className={css.notice} data-kind={isFine ? undefined : 'warn'} aria-label={w.title}>
      <div className={css.stack}>
        <p>
          {!isFine && <strong>{w.title}:</strong>} {step}
        </p>
        {CONTROLS[code]?.(subscription)}
      </div>
    </section>
  )
}

function Mended({ code }: { code: Code }) {
  return (
    <p className={css.notice} data-kind="good" role="status">
      {w.mended[code]}
    </p>
  )
}

/** A lane whose attempts fail may also have a group that waits for one message. */
const lastAnswer = ({ id, verdict: { facts } }: Subscription) => (
  <>
    {facts.blockingMessageId && (
      <BlockingMessage id={id} group={facts.blockedGroup} messageId={facts.blockingMessageId} />
    )}
    <LastAnswer id={id} />
  </>
)

const CONTROLS: Partial<Record<Code, (subscription: Subscription) => ReactNode>> = {
  gone: lastAnswer,
  failing: lastAnswer,
  hung: lastAnswer,
  circuitOpen: (subscription) => (
    <>
      <p>
        {w.nextProbe} <When at={subscription.lane.nextProbeAt} isDue empty="–" />.
      </p>
      {lastAnswer(subscription)}
    </>
  ),
  paused: ({ id }) => <PausedBy id={id} />,
  dlqMissing: (subscription) => (
    <>
      <MissingQueue subscription={subscription} />
      <LastAnswer id={subscription.id} />
    </>
  ),
  queueMissing: ({ endpoint }) => <CreateQueue arn={endpoint} />,
  queueRefuses: lastAnswer,
  groupBlocked: lastAnswer,
  quarantined: () => <Link to="/system">{words.pages.system}</Link>,
}

interface Blocking {
  /** Id of the subscription. */
  id: string
  group: string | null
  messageId: string
}

/** The message that its group waits for, and the button that dead-letters it. */
function BlockingMessage({ id, group, messageId }: Blocking) {
  const setAside = useWrite(operations.setMessageAside)
  return (
    <>
      <p>
        {w.blockedGroup(group ?? '')}{' '}
        <Link to="/messages/$id" params={{ id: messageId }} search={{ open: id }}>
          {messageId}
        </Link>
      </p>
      <div className={css.row}>
        <Button
          isDisabled={setAside.isPending}
          onPress={() => setAside.mutate({ path: { id }, body: { messageId } })}
        >
          {w.setAside}
        </Button>
        <span className={css.hint} role="status">
          {setAside.data ? w.isAside(nameOf(setAside.data.queueArn)) : w.setAsideWhat}
        </span>
      </div>
      {setAside.error && <Failed error={setAside.error} />}
    </>
  )
}

/** The latest answer of the endpoint. Without a record of attempts nothing is shown. */
function LastAnswer({ id }: { id: string }) {
  const read = useRead(operations.listAttempts, { path: { id } })
  const latest = read.data?.attempts[0]
  if (!latest) return null
  const { responseBody } = latest
  return (
    <div>
      <p>
        {w.lastAnswer(latest.statusCode ?? latest.error ?? '–')} <When at={latest.startedAt} />.{' '}
        <Link to="/subs/$id" params={{ id }} search={{ tab: 'attempts' }}>
          {w.allAttempts}
        </Link>
      </p>
      {responseBody && <MessageText text={responseBody} />}
    </div>
  )
}

function PausedBy({ id }: { id: string }) {
  const query = { resource: id, action: PAUSED_BY, limit: 1 }
  const read = useRead(operations.listAudit, { query })
  const last = read.data?.entries[0]
  return (
    <p>
      {last && (
        <>
          {w.pausedBy(last.keyId)} <When at={last.at} />.{' '}
        </>
      )}
      <Link to="/access" search={{ tab: 'audit', resource: id }}>
        {w.audit}
      </Link>
    </p>
  )
}

function MissingQueue({ subscription }: { subscription: Subscription }) {
  const { id, redrivePolicy } = subscription
  const arn = redrivePolicy?.deadLetterTargetArn
  if (!arn) return null
  return (
    <CreateQueue arn={arn}>
      <Link to="/subs/$id" params={{ id }} search={{ tab: 'settings' }}>
        {w.otherQueue}
      </Link>
    </CreateQueue>
  )
}

/** The button that creates the queue, and what stands beside it. The verdict lasts for a while after the creation. */
function CreateQueue({ arn, children }: { arn: string; children?: ReactNode }) {
  const create = useWrite(operations.createQueue)
  const queue = nameOf(arn)
  const found = useRead(operations.getQueue, { path: { queue } })
  const exists = !found.error && found.data?.arn === arn
  return (
    <>
      <div className={css.row} aria-live="polite">
        {exists ? (
          <span>{w.queueExists(queue)}</span>
        ) : (
          <Button
            kind="primary"
            isDisabled={create.isPending}
            onPress={() => create.mutate({ path: { queue }, body: {} })}
          >
            {w.createQueue(queue)}
          </Button>
        )}
        {children}
      </div>
      {create.error && <Failed error={create.error} />}
    </>
  )
}
