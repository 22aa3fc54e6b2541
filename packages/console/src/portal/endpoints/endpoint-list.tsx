/** All endpoints of the session, with filters once there is more than one, and the way to add one. */
import { type CreatedPortalSession, listPortalEndpoints, type PortalEndpoint } from '@fantail/client/api'
import { useEffect, useState } from 'react'
import { usePages } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button } from '../../parts/button.tsx'
import css from '../../parts/parts.module.css'
import { Empty } from '../../parts/states.tsx'
import own from '../pieces/portal.module.css'
import { Shown, StateBadge, Title } from '../pieces/shown.tsx'
import { AddEndpoint } from './add-endpoint.tsx'
import { EndpointFilter, type Filter, NO_FILTER, queryOf } from './endpoint-filter.tsx'

interface Props {
  session: CreatedPortalSession
  /** The endpoint whose page led back here; null: it was deleted. */
  cameFrom: string | null | undefined
  filter: Filter
  onFilter: (filter: Filter) => void
  onChoose: (id: string) => void
  onAdded: (id: string, secret: string) => void
}

export function EndpointList({ session, cameFrom, filter, onFilter, ...props }: Props) {
  const { words } = useLanguage()
  const w = words.endpoints
  const [isAdding, setAdding] = useState(false)
  const read = usePages(listPortalEndpoints, { query: queryOf(filter) })
  const isFiltered = filter !== NO_FILTER
  const rows = read.data?.pages.flatMap(({ endpoints }) => endpoints) ?? []
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = read
  // A page can be empty although there are more.
  const isSearching = rows.length === 0 && hasNextPage
  useEffect(() => {
    if (isSearching && !isFetchingNextPage) void fetchNextPage()
  }, [isSearching, isFetchingNextPage, fetchNextPage])
  return (
    <>
      <div className={css.head}>
        <Title isArrival={cameFrom === null}>{w.title}</Title>
        {session.canAdd && (
          <Button kind="primary" onPress={() => setAdding(true)}>
            {w.add}
          </Button>
        )}
      </div>
      {(isFiltered || rows.length > 1) && <EndpointFilter filter={filter} onChange={onFilter} />}
      <Shown read={{ ...read, data: isSearching ? undefined : read.data }} rows={4}>
        {() =>
          rows.length === 0 ? (
            <div className={css.frame}>
              <Nothing isFiltered={isFiltered} canAdd={session.canAdd} onClear={() => onFilter(NO_FILTER)} />
            </div>
          ) : (
            <>
              <ul className={own.rows} aria-label={w.title}>
                {rows.map((row) => (
                  <li key={row.id}>
                    <Row row={row} isLast={row.id === cameFrom} onChoose={props.onChoose} />
                  </li>
                ))}
              </ul>
              <div className={css.row}>
                <span role="status" className={css.quiet}>
                  {hasNextPage ? w.countMore(rows.length) : w.count(rows.length)}
                </span>
                {hasNextPage && (
                  <Button kind="plain" onPress={() => void fetchNextPage()}>
                    {words.more}
                  </Button>
                )}
              </div>
            </>
          )
        }
      </Shown>
      <AddEndpoint isOpen={isAdding} onClose={() => setAdding(false)} onAdded={props.onAdded} />
    </>
  )
}

interface NothingProps {
  isFiltered: boolean
  canAdd: boolean
  onClear: () => void
}

function Nothing({ isFiltered, canAdd, onClear }: NothingProps) {
  const w = useLanguage().words.endpoints
  if (!isFiltered) {
    return (
      <Empty title={w.empty}>
        <p>{w.what}</p>
        <p>{canAdd ? w.emptyAdd : w.emptyWait}</p>
      </Empty>
    )
  }
  return (
    <Empty title={w.noMatch}>
      <Button onPress={onClear}>{w.clear}</Button>
    </Empty>
  )
}

interface RowProps {
  row: PortalEndpoint
  isLast: boolean
  onChoose: (id: string) => void
}

function Row({ row: { id, name, endpoint, eventTypes, state, waiting }, isLast, onChoose }: RowProps) {
  const w = useLanguage().words.endpoints
  return (
    <button type="button" className={own.row} ref={isLast ? focus : undefined} onClick={() => onChoose(id)}>
      <span className={own.rowName} title={endpoint}>
        <strong>{name ?? endpoint}</strong>
        {name && <small>{endpoint}</small>}
      </span>
      <span className={own.rowTypes}>
        <Types types={eventTypes} />
      </span>
      <small className={own.rowWaiting}>{waiting > 0 && w.waiting(waiting)}</small>
      <span className={own.rowState}>
        <StateBadge state={state} />
      </span>
    </button>
  )
}

/** Types that a row names. Past it: the row says how many more there are. */
const TYPES_SHOWN_MAX = 3

function Types({ types }: { types: readonly string[] | null }) {
  const w = useLanguage().words.endpoints
  if (types === null) return <small>{w.allTypes}</small>
  const left = types.length - TYPES_SHOWN_MAX
  return (
    <>
      {types.slice(0, TYPES_SHOWN_MAX).map((type) => (
        <code key={type}>{type}</code>
      ))}
      {left > 0 && <small>{w.typesMore(left)}</small>}
    </>
  )
}

/** Runs when the row is drawn first. */
function focus(row: HTMLButtonElement | null): void {
  row?.focus()
}
