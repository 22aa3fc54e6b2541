/** The lanes of all topics, worst first, and why they are stuck. The actions in a row apply to its lane. */
import type { Lane, LaneList } from '@fantail/client/api'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { SCREEN_REFRESH_MS, usePages, useRead } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Check, Select, TextInput } from '../../parts/fields.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Empty, Loaded } from '../../parts/states.tsx'
import { BulkBar } from '../bulk/bulk-bar.tsx'
import type { BulkSelect } from '../bulk/bulk-dialog.tsx'
import { columnsWith, HOSTS } from './lane-columns.tsx'
import { useSteadyRows } from './lane-flow.tsx'
import { LanePanel } from './lane-quick-actions.tsx'
import { lanesInput } from './lanes-query.ts'

const w = words.lanes
const route = getRouteApi('/lanes')

const SORTS = [
  { value: 'worst', label: w.sorts.worst },
  { value: 'oldest', label: w.sorts.oldest },
  { value: 'waiting', label: w.sorts.waiting },
] as const
const STATES = [
  { value: '', label: w.anyState },
  { value: 'inNeed', label: w.inNeed },
  ...(Object.keys(w.verdicts) as Lane['verdict']['code'][]).map((value) => ({
    value,
    label: w.verdicts[value],
  })),
] as const

type Sort = (typeof SORTS)[number]['value']
type State = (typeof STATES)[number]['value']

const NOTHING: ReadonlySet<string> = new Set()

export function LanesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const sort = SORTS.find(({ value }) => value === search.sort)?.value ?? 'worst'
  const state = STATES.find(({ value }) => value === search.state)?.value ?? ''
  const isGrouped = search.by === 'host'
  const [opened, setOpened] = useState<string>()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(NOTHING)
  const change = (changed: typeof search) => {
    setOpened(undefined)
    if (changed.sort === undefined) setChosen(NOTHING)
    void navigate({ search: { ...search, ...changed }, replace: true })
  }
  const { topic, host, q } = search
  const filter = filterOf({ state, topic, host, q })
  const input = lanesInput({ sort, state, topic, host, q, isGrouped })
  const read = usePages(
    operations.listLanes,
    input,
    opened === undefined ? {} : { everyMs: SCREEN_REFRESH_MS },
  )
  return (
    <>
      <PageHead title={words.pages.lanes} request={callOf(operations.listLanes, input)}>
        <Link to="/bulk">{words.bulk.tasks}</Link>
      </PageHead>
      <div className={css.stack}>
        <div className={css.fields}>
          <TextInput
            type="search"
            label={w.search}
            value={q ?? ''}
            onChange={(next) => change({ q: next || undefined })}
          />
          <Select<State>
            label={w.state}
            value={state}
            options={countedStates(topic || host || q ? undefined : read.data?.pages[0])}
            onChange={(next) => change({ state: next || undefined })}
          />
          <Select<Sort>
            label={w.sort}
            value={sort}
            options={SORTS}
            onChange={(next) => change({ sort: next })}
          />
          <TextInput
            label={words.pages.topic}
            value={topic ?? ''}
            onChange={(next) => change({ topic: next || undefined })}
          />
        </div>
        {host && (
          <p>
            {w.ofHost(host)}{' '}
            <Button kind="plain" onPress={() => change({ host: undefined })}>
              {w.allHosts}
            </Button>
          </p>
        )}
        <div className={`${css.row} ${css.spread}`}>
          <BulkBar
            chosen={chosen}
            ofChosen={(keys) => (isGrouped ? { ...filter, hosts: keys } : { subscriptions: keys })}
            ofFilter={filter}
            onClear={() => setChosen(NOTHING)}
          />
          <Check
            label={w.byHost}
            isChecked={isGrouped}
            onChange={(by) => change({ by: by ? 'host' : undefined })}
          />
        </div>
        <Loaded read={read} rows={12}>
          {({ pages }) => (
            <Board
              pages={pages}
              isGrouped={isGrouped}
              isFiltered={filter !== undefined}
              hidesQuiet={filter !== undefined && !state}
              onMore={read.hasNextPage ? () => void read.fetchNextPage() : undefined}
              opened={opened}
              onOpen={setOpened}
              chosen={chosen}
              onChoose={setChosen}
              order={{ sort, onSort: (next) => change({ sort: next }) }}
            />
          )}
        </Loaded>
      </div>
    </>
  )
}

/** The verdicts, with the number of all lanes that have them, so that a rare one is seen among many. */
function countedStates(list: LaneList | undefined) {
  const counts: Partial<Record<State, number>> = list?.verdicts ?? {}
  return STATES.map(({ value, label }) => {
    const count = counts[value]
    return { value, label: count === undefined ? label : w.counted(label, count) }
  })
}

/** The filter of the list as a selection. undefined: no filter is set. */
function filterOf({
  state,
  topic,
  host,
  q,
}: {
  state: State
  topic: string | undefined
  host: string | undefined
  q: string | undefined
}): BulkSelect | undefined {
  if (!state && !topic && !host && !q) return undefined
  return { ...(state && { state }), ...(topic && { topic }), ...(host && { hosts: [host] }), ...(q && { q }) }
}

interface BoardProps {
  pages: LaneList[]
  isGrouped: boolean
  isFiltered: boolean
  /** Quiet lanes match the filter too, and the list leaves them out. */
  hidesQuiet: boolean
  onMore: (() => void) | undefined
  /** Id of the subscription whose row is open. */
  opened: string | undefined
  onOpen: (id: string | undefined) => void
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
  order: { sort: string; onSort: (sort: string) => void }
}

function Board({ pages, isGrouped, isFiltered, hidesQuiet, onMore, opened, onOpen, ...table }: BoardProps) {
  const { chosen, onChoose, order } = table
  const first = pages[0]
  const read = useOpened(opened)
  const lanes = useSteadyRows(
    pages.flatMap((page) => page.lanes),
    read.data,
    opened !== undefined,
  )
  const kept = lanes.filter(({ hasLeft }) => hasLeft).length
  const hosts = pages.flatMap((page) => page.hosts ?? [])
  const empty = (
    <Empty title={isFiltered ? w.noneMatches : w.nothing}>
      <p>{isFiltered ? w.noneMatchesWhy : w.fine(first?.looked ?? 0)}</p>
      {hidesQuiet && <p>{w.quietToo}</p>}
    </Empty>
  )
  return (
    <>
      {first && (
        <p className={css.quiet}>
          {w.summary(first.matched, first.waiting)} {!isGrouped && kept > 0 && w.kept(kept)}{' '}
          {!first.complete && w.incomplete}
        </p>
      )}
      {isGrouped ? (
        <DataTable
          label={w.hosts}
          columns={HOSTS}
          rows={hosts}
          keyOf={({ host }) => host}
          choice={{ chosen, onChoose, nameOf: ({ host }) => host }}
          empty={empty}
          onMore={onMore}
        />
      ) : (
        <DataTable
          label={words.pages.lanes}
          columns={columnsWith(opened, onOpen)}
          rows={lanes}
          keyOf={({ subscriptionId }) => subscriptionId}
          choice={{ chosen, onChoose, nameOf: ({ name, endpoint }) => name ?? endpoint }}
          order={order}
          under={({ subscriptionId }) =>
            subscriptionId === opened && (
              <Loaded read={read} rows={2}>
                {(subscription) => <LanePanel key={subscription.id} subscription={subscription} />}
              </Loaded>
            )
          }
          empty={empty}
          onMore={onMore}
        />
      )}
    </>
  )
}

/** One read fills the row and its panel, so that they never contradict each other. */
function useOpened(id: string | undefined) {
  const input = { path: { id: id ?? '' } }
  const options = { everyMs: SCREEN_REFRESH_MS, enabled: id !== undefined }
  const { data, error, refetch } = useRead(operations.getSubscription, input, options)
  const isThis = data?.id === id
  return { data: isThis ? data : undefined, error, refetch }
}
