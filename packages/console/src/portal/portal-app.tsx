/** The portal: a customer's endpoints. It opens a link, and then shows a list or one endpoint. */
import { type CreatedPortalSession, endPortalSession, redeemPortalLink } from '@fantail/client/api'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { keepBearer, send } from '../api/send.ts'
import { useConnection, useWrite } from '../api/use-api.ts'
import { words } from '../i18n/en.ts'
import { Button } from '../parts/button.tsx'
import css from '../parts/parts.module.css'
import { When } from '../parts/show.tsx'
import { Failed, Skeleton } from '../parts/states.tsx'
import { EndpointList } from './endpoint-list.tsx'
import { EndpointPage } from './endpoint-page.tsx'
import own from './portal.module.css'

const w = words.portal

export function PortalApp({ token }: { token: string }) {
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
  if (token === '') return <Closed title={w.noLink} why={w.noLinkWhy} />
  if (isEnded) return <Closed title={w.ended} why={w.noLinkWhy} />
  if (error) return <Closed title={w.notOpened} why={w.noLinkWhy} error={error} />
  if (!data) return <Skeleton rows={4} />
  return <Opened session={data} onEnd={() => setEnded(true)} />
}

function Closed({ title, why, error }: { title: string; why: string; error?: unknown }) {
  return (
    <main className={own.main}>
      <h1>{title}</h1>
      {error ? <Failed error={error} /> : null}
      <p className={css.quiet}>{why}</p>
    </main>
  )
}

function Opened({ session, onEnd }: { session: CreatedPortalSession; onEnd: () => void }) {
  const [chosen, setChosen] = useState<string>()
  const end = useWrite(endPortalSession)
  const { name, logo, colour } = session.theme
  useEffect(() => {
    if (colour) document.documentElement.style.setProperty('--brand', colour)
    if (name) document.title = name
  }, [colour, name])
  return (
    <>
      <header className={own.head}>
        {logo && <img src={logo} alt="" />}
        <strong>{name ?? words.product}</strong>
        <span>
          {w.ends} <When at={session.endsAt} />
        </span>
        <Button
          onPress={() =>
            end.mutate(
              {},
              {
                onSettled: () => {
                  keepBearer(null)
                  onEnd()
                },
              },
            )
          }
        >
          {w.end}
        </Button>
      </header>
      <main className={own.main}>
        {chosen === undefined ? (
          <EndpointList session={session} onChoose={setChosen} />
        ) : (
          <EndpointPage id={chosen} session={session} onBack={() => setChosen(undefined)} />
        )}
      </main>
    </>
  )
}

/**
 * The token of the link, which is behind the `#` of the address. It is removed before any request is sent, so that it
 * does not stay in the history. '' if the address has none.
 */
export function takeToken(): string {
  const token = location.hash.slice(1)
  history.replaceState(null, '', location.pathname)
  return token
}

let opened: Promise<CreatedPortalSession> | undefined

/** A link works once. So it is used once, even if the screen is drawn several times. */
function openLink(token: string): Promise<CreatedPortalSession> {
  opened ??= send(redeemPortalLink, { body: { token } }).then((session) => {
    keepBearer(session.token)
    return session
  })
  return opened
}
