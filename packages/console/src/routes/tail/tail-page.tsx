/** Shows attempts and ends of deliveries as they happen. */
import type { DeliveryEvent } from '@fantail/client/api'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { togglePause, usePaused } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { LiveTail, type TailState, type TailView } from '../../live/live-tail.ts'
import type { TailQuery } from '../../live/tab-queries.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Select, TextInput } from '../../parts/fields.tsx'
import { formatSeconds } from '../../parts/formats.ts'
import { PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Badge, type Tone, useNow } from '../../parts/show.tsx'
import { Empty } from '../../parts/states.tsx'
import { TAIL_COLUMNS } from './tail-columns.tsx'

const w = words.tail
const route = getRouteApi('/tail')

export function TailPage() {
  const search = route.useSearch()
  const type = typeOf(search)
  const query: TailQuery = {
    ...(search.topic && { topic: search.topic }),
    ...(search.subscription && { subscription: search.subscription }),
    ...(type !== '' && { type }),
    ...(search.status && { statusCode: search.status }),
  }
  const { rows, count, state, waiting } = useLiveTail(query)
  const isPaused = usePaused()
  return (
    <>
      <PageHead title={words.pages.tail} status={<State state={state} />}>
        <CopyButton kind="plain" label={words.copyCurl} text={curlOf(query)} />
        <Button onPress={togglePause}>{isPaused ? w.resume(waiting) : w.pause}</Button>
      </PageHead>
      <div className={css.stack}>
        <TailForm key={JSON.stringify(search)} />
        {state.is === 'refused' && (
          <div className={css.notice} data-kind="bad" role="alert">
            <strong>{state.code}</strong> {state.message}
          </div>
        )}
        {state.is === 'liveWithoutEnds' && <p className={css.quiet}>{w.withoutEnds}</p>}
        <p className={css.quiet}>{w.came(count)}</p>
        <DataTable
          label={words.pages.tail}
          columns={TAIL_COLUMNS}
          rows={rows}
          keyOf={({ key }) => String(key)}
          empty={
            <Empty title={w.nothing}>
              <p>{w.nothingWhy}</p>
            </Empty>
          }
        />
      </div>
    </>
  )
}

/** The same stream in a terminal. */
function curlOf(query: TailQuery): string {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return `curl -sSN '${location.origin}/v1/events${search.size > 0 ? `?${search}` : ''}'`
}

const TONES: Record<TailState['is'], Tone> = {
  connecting: undefined,
  live: 'good',
  liveWithoutEnds: 'good',
  stale: 'warn',
  refused: 'bad',
}

function State({ state }: { state: TailState }) {
  const now = useNow()
  const text =
    state.is === 'stale'
      ? w.states.stale(formatSeconds(Math.max(1, Math.round((now - state.since) / 1_000))))
      : w.states[state.is]
  return (
    <span role="status">
      <Badge tone={TONES[state.is]}>{text}</Badge>
    </span>
  )
}

/** Live events for a screen. A paused screen does not change, and counts the events that arrive. */
interface Shown extends TailView {
  /** The number of events that arrived since the screen was paused. */
  waiting: number
}

function useLiveTail(query: TailQuery): Shown {
  const key = JSON.stringify(query)
  const [tail, setTail] = useState(() => new LiveTail(query))
  const opened = useRef(key)
  useEffect(() => {
    if (opened.current === key) return
    opened.current = key
    setTail(new LiveTail(JSON.parse(key) as TailQuery))
  }, [key])
  useEffect(() => tail.start(), [tail])
  const view = useSyncExternalStore(tail.subscribe, tail.view)
  const isPaused = usePaused()
  const frozen = useRef<TailView>(view)
  if (!isPaused || view.count < frozen.current.count) frozen.current = view
  const { rows, count } = frozen.current
  return { rows, count, state: view.state, waiting: view.count - count }
}

type Type = DeliveryEvent['type'] | ''

const TYPES = [
  { value: '' as Type, label: w.anyType },
  ...(Object.keys(w.types) as DeliveryEvent['type'][]).map((value) => ({
    value: value as Type,
    label: w.types[value],
  })),
]

type Search = ReturnType<typeof route.useSearch>

/** The filters of live events. The address contains them. A changed filter opens another stream. */
function typeOf({ type }: { type?: string }): Type {
  return TYPES.find(({ value }) => value === type)?.value ?? ''
}

function TailForm() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [filters, setFilters] = useState(search)
  const go = (changed: Search) => {
    const given = Object.entries({ ...filters, ...changed }).filter(([, text]) => text)
    void navigate({ search: Object.fromEntries(given), replace: true })
  }
  const change = (changed: Search) => setFilters({ ...filters, ...changed })
  const submit = (event: React.FormEvent) => {
    event.preventDefault()
    go({})
  }
  return (
    <form className={css.form} onSubmit={submit}>
      <div className={css.fields}>
        <TextInput
          label={words.pages.topic}
          value={filters.topic ?? ''}
          onChange={(topic) => change({ topic })}
        />
        <Select<Type>
          label={w.type}
          value={typeOf(filters)}
          options={TYPES}
          onChange={(type) => {
            change({ type })
            go({ type })
          }}
        />
        <TextInput
          label={w.status}
          hint={w.statusHint}
          value={filters.status ?? ''}
          onChange={(status) => change({ status })}
        />
        <TextInput
          label={words.pages.subscription}
          value={filters.subscription ?? ''}
          onChange={(subscription) => change({ subscription })}
        />
      </div>
      <div className={css.row}>
        <Button kind="primary" type="submit">
          {w.show}
        </Button>
      </div>
    </form>
  )
}
