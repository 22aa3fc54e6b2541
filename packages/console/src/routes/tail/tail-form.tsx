/** The filters of live events. The address contains them. A changed filter opens another stream. */
import type { DeliveryEvent } from '@fantail/client/api'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { Select, TextInput } from '../../parts/fields.tsx'
import css from '../../parts/parts.module.css'

type Type = DeliveryEvent['type'] | ''

const w = words.tail
const route = getRouteApi('/tail')

const TYPES = [
  { value: '' as Type, label: w.anyType },
  ...(Object.keys(w.types) as DeliveryEvent['type'][]).map((value) => ({
    value: value as Type,
    label: w.types[value],
  })),
]

type Search = ReturnType<typeof route.useSearch>

export function typeOf({ type }: { type?: string }): Type {
  return TYPES.find(({ value }) => value === type)?.value ?? ''
}

export function TailForm() {
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
