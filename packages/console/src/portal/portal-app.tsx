/** The portal: a customer's endpoints. It opens a link, and then shows a list or one endpoint. */
import { type CreatedPortalSession, endPortalSession } from '@fantail/client/api'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { keepBearer } from '../api/send.ts'
import { useConnection, useWrite } from '../api/use-api.ts'
import { useLanguage } from '../i18n/portal/portal-language.ts'
import { Button } from '../parts/button.tsx'
import css from '../parts/parts.module.css'
import { When } from '../parts/show.tsx'
import { Skeleton } from '../parts/states.tsx'
import { EndpointPage } from './endpoint/endpoint-page.tsx'
import { NO_FILTER } from './endpoints/endpoint-filter.tsx'
import { EndpointList } from './endpoints/endpoint-list.tsx'
import own from './pieces/portal.module.css'
import { openLink } from './portal-link.ts'
import { usePlace } from './portal-place.ts'

export function PortalApp({ token }: { token: string }) {
  const { opening } = useLanguage().words
  const { data, error } = useQuery({
    queryKey: ['portal-link'],
    queryFn: () => openLink(token),
    enabled: token !== '',
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  const [isEnded, setEnded] = useState(false)
  const { state } = useConnection()
  useEffect(() => {
    if (data && state === 'refused') setEnded(true)
  }, [data, state])
  if (token === '') return <Closed title={opening.noLink} />
  if (isEnded) return <Closed title={opening.ended} />
  if (error) return <Closed title={opening.notOpened} />
  if (data) return <Opened session={data} onEnd={() => setEnded(true)} />
  return (
    <main className={own.main}>
      <h1 className="unseen">{opening.opens}</h1>
      <Skeleton rows={4} />
    </main>
  )
}

function Closed({ title }: { title: string }) {
  const { words } = useLanguage()
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <main className={own.main}>
      <div className={own.closed}>
        <h1>{title}</h1>
        <p className={css.quiet}>{words.opening.why}</p>
      </div>
    </main>
  )
}

interface OpenedProps {
  session: CreatedPortalSession
  onEnd: () => void
}

function Opened({ session, onEnd }: OpenedProps) {
  const [chosen, go] = usePlace()
  /** Leads back to the row of the list that was opened last; null: it is deleted. */
  const [last, setLast] = useState<string | null>()
  const [filter, setFilter] = useState(NO_FILTER)
  /** Signing secrets that were made here and not put away yet, by endpoint. */
  const [secrets, setSecrets] = useState<ReadonlyMap<string, string>>(new Map())
  const keepSecret = (id: string, secret: string | undefined) =>
    setSecrets((kept) => {
      const next = new Map(kept)
      if (secret === undefined) next.delete(id)
      else next.set(id, secret)
      return next
    })
  const open = (id: string) => {
    setLast(id)
    go(id)
  }
  return (
    <>
      <Head session={session} onEnd={onEnd} />
      <main className={own.main}>
        <Silence />
        {chosen === undefined ? (
          <EndpointList
            session={session}
            cameFrom={last}
            filter={filter}
            onFilter={setFilter}
            onChoose={open}
            onAdded={(id, secret) => {
              keepSecret(id, secret)
              open(id)
            }}
          />
        ) : (
          <EndpointPage
            key={chosen}
            id={chosen}
            session={session}
            secret={secrets.get(chosen)}
            onSecret={(secret) => keepSecret(chosen, secret)}
            onBack={() => go(undefined)}
            onDeleted={() => {
              setLast(null)
              go(undefined)
            }}
          />
        )}
      </main>
    </>
  )
}

function Head({ session, onEnd }: OpenedProps) {
  const { head } = useLanguage().words
  const end = useWrite(endPortalSession)
  const { name, logo, colour } = session.theme
  useEffect(() => {
    if (!colour) return
    document.documentElement.style.setProperty('--brand', colour)
    document.documentElement.style.setProperty('--on-brand', '#fff')
  }, [colour])
  const endNow = () => {
    keepBearer(null)
    onEnd()
  }
  return (
    <header className={own.head}>
      {logo && <img src={logo} alt="" />}
      <strong>{name ?? head.product}</strong>
      <span className={own.ends}>
        {head.ends} <When at={session.endsAt} isDue />
      </span>
      <Button isDisabled={end.isPending} onPress={() => end.mutate({}, { onSettled: endNow })}>
        {head.end}
      </Button>
    </header>
  )
}

/** Says that the page may be old, while there is no answer. */
function Silence() {
  const { head } = useLanguage().words
  const { state } = useConnection()
  return (
    <div role="status" className={own.silence}>
      {state === 'stale' && (
        <p className={css.notice} data-kind="warn">
          {head.stale}
        </p>
      )}
    </div>
  )
}
