/** The filters of a search. The address contains them. A search begins only when the user presses the button. */
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { InputOf, operations } from '../../api/api-calls.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { Select, TextInput } from '../../parts/fields.tsx'
import css from '../../parts/parts.module.css'

type Query = NonNullable<InputOf<typeof operations.searchMessages>['query']>
type State = NonNullable<Query['state']>

const w = words.messages
const route = getRouteApi('/messages')

const STATES = [
  { value: '', label: w.anyState },
  ...(Object.keys(w.states) as State[]).map((value) => ({ value, label: w.states[value] })),
] as const

const MINUTE_MS = 60_000
export const PERIODS = [
  { value: '', label: w.periods.all, ms: Number.POSITIVE_INFINITY },
  { value: '15m', label: w.periods.quarter, ms: 15 * MINUTE_MS },
  { value: '1h', label: w.periods.hour, ms: 60 * MINUTE_MS },
  { value: '24h', label: w.periods.day, ms: 1_440 * MINUTE_MS },
] as const

export type Period = (typeof PERIODS)[number]['value']
type Search = ReturnType<typeof route.useSearch>

/** The member `since` of a query, for a period of the address. */
export function sinceOf(within: string | undefined): { since?: string } {
  const period = PERIODS.find(({ value }) => value === within)
  return period && period.value !== '' ? { since: new Date(Date.now() - period.ms).toISOString() } : {}
}

/** The query for the API. Its start time stays the same until the filters change. */
export function useSearchQuery({ topic, subscription, state, statusCode, within }: Search): Query {
  return useMemo(() => {
    return {
      ...(topic && { topic }),
      ...(subscription && { subscription }),
      ...(STATES.some(({ value }) => value === state) && state && { state: state as State }),
      ...(statusCode && { statusCode: Number(statusCode) }),
      ...sinceOf(within),
    }
  }, [topic, subscription, state, statusCode, within])
}

export function SearchForm() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [filters, setFilters] = useState(search)
  const change = (changed: Search) => setFilters({ ...filters, ...changed })
  const submit = (event: React.FormEvent) => {
    event.preventDefault()
    const given = Object.entries(filters).filter(([, text]) => text)
    void navigate({ search: Object.fromEntries(given) })
  }
  return (
    <form className={css.form} onSubmit={submit}>
      <div className={css.fields}>
        <TextInput label={w.topic} value={filters.topic ?? ''} onChange={(topic) => change({ topic })} />
        <Select<State | ''>
          label={words.message.state}
          value={STATES.find(({ value }) => value === filters.state)?.value ?? ''}
          options={STATES}
          onChange={(state) => change({ state })}
        />
        <TextInput
          type="number"
          label={w.statusCode}
          min={100}
          max={599}
          value={filters.statusCode ?? ''}
          onChange={(statusCode) => change({ statusCode })}
        />
        <Select<Period>
          label={w.within}
          value={PERIODS.find(({ value }) => value === filters.within)?.value ?? ''}
          options={PERIODS}
          onChange={(within) => change({ within })}
        />
        <TextInput
          label={w.subscription}
          value={filters.subscription ?? ''}
          onChange={(subscription) => change({ subscription })}
        />
      </div>
      <div className={css.row}>
        <Button kind="primary" type="submit">
          {w.search}
        </Button>
      </div>
    </form>
  )
}
