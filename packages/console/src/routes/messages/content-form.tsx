/** The filters of a search by content. The address contains them. */
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { InputOf, operations } from '../../api/api-calls.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { Select, TextInput } from '../../parts/fields.tsx'
import css from '../../parts/parts.module.css'
import { PERIODS, type Period, sinceOf } from './search-form.tsx'

type Query = NonNullable<InputOf<typeof operations.searchKeptMessages>['query']>

const w = words.content
const route = getRouteApi('/messages')
type Search = ReturnType<typeof route.useSearch>

export function isAsked({ text, type, topic, prefix, metadata, within }: Search): boolean {
  return [text, type, topic, prefix, metadata, within].some(Boolean)
}

/** The query for the API. Its start time stays the same until the filters change. */
export function useContentQuery({ text, type, topic, prefix, metadata, within }: Search): Query {
  return useMemo(
    () => ({
      ...(text && { text }),
      ...(type && { eventType: type }),
      ...(topic && { topic }),
      ...(prefix && { topicPrefix: prefix }),
      ...(metadata && { metadata }),
      ...sinceOf(within),
    }),
    [text, type, topic, prefix, metadata, within],
  )
}

export function ContentForm() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [given, setGiven] = useState(search)
  const change = (changed: Search) => setGiven({ ...given, ...changed })
  const submit = (event: React.FormEvent) => {
    event.preventDefault()
    const { text, type, topic, prefix, metadata, within } = given
    const filled = Object.entries({ text, type, topic, prefix, metadata, within }).filter(
      ([, value]) => value,
    )
    void navigate({ search: { by: 'content', ...Object.fromEntries(filled) } })
  }
  return (
    <form className={css.form} onSubmit={submit}>
      <div className={css.fields}>
        <TextInput
          type="search"
          label={w.text}
          hint={w.textHint}
          value={given.text ?? ''}
          onChange={(text) => change({ text })}
        />
        <TextInput
          label={w.type}
          hint={w.typeHint}
          value={given.type ?? ''}
          onChange={(type) => change({ type })}
        />
        <TextInput
          label={words.messages.topic}
          value={given.topic ?? ''}
          onChange={(topic) => change({ topic })}
        />
        <TextInput label={w.prefix} value={given.prefix ?? ''} onChange={(prefix) => change({ prefix })} />
        <TextInput
          label={w.metadata}
          hint={w.metadataHint}
          value={given.metadata ?? ''}
          onChange={(metadata) => change({ metadata })}
        />
        <Select<Period>
          label={w.within}
          value={PERIODS.find(({ value }) => value === given.within)?.value ?? ''}
          options={PERIODS}
          onChange={(within) => change({ within })}
        />
      </div>
      <div className={css.row}>
        <Button kind="primary" type="submit" isDisabled={!isAsked(given)}>
          {words.messages.search}
        </Button>
      </div>
    </form>
  )
}
