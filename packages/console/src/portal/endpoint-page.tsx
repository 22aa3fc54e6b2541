/** One endpoint: its state, actions, the latest deliveries, dead letters. */
import {
  type CreatedPortalSession,
  deletePortalEndpoint,
  listPortalEndpoints,
  type PortalEndpoint,
  pausePortalEndpoint,
  resumePortalEndpoint,
  rotatePortalKey,
  testPortalEndpoint,
} from '@fantail/client/api'
import { useState } from 'react'
import { useRead, useWrite } from '../api/use-api.ts'
import { words } from '../i18n/en.ts'
import { Button, CopyButton } from '../parts/button.tsx'
import { Confirm } from '../parts/dialogs/confirm.tsx'
import css from '../parts/parts.module.css'
import { Figure, Figures, When } from '../parts/show.tsx'
import { Failed, Loaded } from '../parts/states.tsx'
import { Attempts, DeadLetters, Deliveries } from './endpoint-history.tsx'
import { StateBadge } from './endpoint-list.tsx'

const w = words.portal

interface Props {
  id: string
  session: CreatedPortalSession
  onBack: () => void
}

export function EndpointPage({ id, session, onBack }: Props) {
  const read = useRead(listPortalEndpoints, {})
  return (
    <>
      <div>
        <Button kind="plain" onPress={onBack}>
          ← {w.endpoints}
        </Button>
      </div>
      <Loaded read={read}>
        {({ endpoints }) => {
          const endpoint = endpoints.find((one) => one.id === id)
          if (!endpoint) return <p>{w.gone}</p>
          return (
            <>
              <div className={css.head}>
                <h1>{endpoint.name ?? endpoint.endpoint}</h1>
                <StateBadge {...endpoint} />
              </div>
              <div className={`${css.panel} ${css.stack}`}>
                <p>
                  {endpoint.topic} → {endpoint.endpoint}
                </p>
                {endpoint.verdict === 'gone' && <p>{w.answeredGone}</p>}
                <Figures>
                  <Figure label={w.waiting} value={endpoint.waiting} />
                  <Figure label={w.inFlight} value={endpoint.inFlight} />
                  <Figure label={w.lastStatus} value={endpoint.lastStatusCode ?? '–'} />
                  <Figure label={w.next} value={<When at={endpoint.nextAttemptAt} isDue empty="–" />} />
                </Figures>
              </div>
              {session.scopes.includes('manage') && <Actions endpoint={endpoint} onBack={onBack} />}
              <Deliveries id={id} />
              <Attempts id={id} />
              <DeadLetters id={id} mayRedrive={session.scopes.includes('redrive')} />
            </>
          )
        }}
      </Loaded>
    </>
  )
}

function Actions({
  endpoint: { id, status, endpoint },
  onBack,
}: {
  endpoint: PortalEndpoint
  onBack: () => void
}) {
  const [isDeleting, setDeleting] = useState(false)
  const pause = useWrite(pausePortalEndpoint)
  const resume = useWrite(resumePortalEndpoint)
  const test = useWrite(testPortalEndpoint)
  const rotate = useWrite(rotatePortalKey)
  const remove = useWrite(deletePortalEndpoint)
  const input = { path: { id } }
  const failed = [pause, resume, test, rotate].find(({ error }) => error)?.error
  return (
    <section className={css.panel} aria-label={w.actions}>
      <div className={css.row}>
        <Button isDisabled={test.isPending} onPress={() => test.mutate(input)}>
          {w.test}
        </Button>
        {status === 'paused' ? (
          <Button onPress={() => resume.mutate(input)}>{w.resume}</Button>
        ) : (
          <Button isDisabled={status === 'pending'} onPress={() => pause.mutate(input)}>
            {w.pause}
          </Button>
        )}
        <Button isDisabled={rotate.isPending} onPress={() => rotate.mutate(input)}>
          {w.rotate}
        </Button>
        <Button kind="danger" onPress={() => setDeleting(true)}>
          {w.delete}
        </Button>
      </div>
      <div role="status">
        {test.data && <p>{w.tested(test.data.statusCode ?? test.data.error ?? '–', test.data.durationMs)}</p>}
        {rotate.data?.secret && (
          <div className={css.notice} data-kind="warn">
            <p>{w.secretOnce}</p>
            <code>{rotate.data.secret}</code> <CopyButton text={rotate.data.secret} />
          </div>
        )}
      </div>
      {failed ? <Failed error={failed} /> : null}
      <Confirm
        title={w.deleteTitle}
        action={w.delete}
        name={endpoint}
        isOpen={isDeleting}
        write={remove}
        onClose={() => setDeleting(false)}
        onConfirm={() => remove.mutate(input, { onSuccess: onBack })}
      >
        <p>{w.deleteWhat}</p>
      </Confirm>
    </section>
  )
}
