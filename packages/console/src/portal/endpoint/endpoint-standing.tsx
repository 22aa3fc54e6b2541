/** How an endpoint stands, in sentences. Nothing is wrong with an endpoint that has had no message yet. */
import type { PortalEndpoint } from '@fantail/client/api'
import type { PortalWords } from '../../i18n/portal/portal-en.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import css from '../../parts/parts.module.css'
import { useNow } from '../../parts/show.tsx'
import { useLatestMessages } from './latest-messages.ts'

const KINDS: Partial<Record<PortalEndpoint['state'], 'bad' | 'warn'>> = {
  failing: 'bad',
  paused: 'warn',
  pending: 'warn',
}

export function Standing({ endpoint }: { endpoint: PortalEndpoint }) {
  const { words } = useLanguage()
  const { id, state, waiting, inFlight, pendingEndpoint } = endpoint
  const { data, hasNextPage } = useLatestMessages(id, '')
  const hasNone = !hasNextPage && data?.pages.every(({ messages }) => messages.length === 0)
  const isNew = state === 'working' && waiting + inFlight === 0 && hasNone
  const w = words.standing
  return (
    <div className={css.notice} data-kind={KINDS[state]}>
      <p role="status">{isNew ? w.new : sentenceOf(words, endpoint)}</p>
      {state !== 'working' && waiting > 0 && <Waiting endpoint={endpoint} />}
      {pendingEndpoint !== null && <p>{w.moving(pendingEndpoint)}</p>}
    </div>
  )
}

function sentenceOf(words: PortalWords, endpoint: PortalEndpoint): string {
  const { state, verdict, waiting, inFlight, lastStatusCode } = endpoint
  const w = words.standing
  switch (state) {
    case 'working': {
      const onTheWay = waiting + inFlight
      return onTheWay === 0 ? w.working : w.onTheWay(onTheWay)
    }
    case 'paused':
      return verdict === 'gone' ? w.gone : w.paused
    case 'pending':
      return w.pending
    case 'failing':
      return lastStatusCode === null ? w.failingSomehow : w.failing(lastStatusCode)
  }
}

function Waiting({ endpoint: { state, waiting, nextAttemptAt } }: { endpoint: PortalEndpoint }) {
  const { words, formats } = useLanguage()
  const now = useNow()
  const w = words.standing
  if (state !== 'failing' || nextAttemptAt === null) return <p>{w.waitsOnly(waiting)}</p>
  const left = Math.max(0, Date.parse(nextAttemptAt) - now)
  return <p>{w.waits(waiting, formats.relative(left))}</p>
}
