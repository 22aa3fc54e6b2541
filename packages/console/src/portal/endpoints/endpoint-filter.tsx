/** Filters of the list: a text, a state, and, where the service has several sources or event types, one of them. */
import { listPortalEventTypes, listPortalTopics, type PortalEndpoint } from '@fantail/client/api'
import { useEffect, useState } from 'react'
import { useRead } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Select, TextInput } from '../../parts/fields.tsx'
import own from '../pieces/portal.module.css'

export interface Filter {
  text: string
  state: PortalEndpoint['state'] | ''
  topic: string
  type: string
}

export const NO_FILTER: Filter = { text: '', state: '', topic: '', type: '' }

export function queryOf({ text, state, topic, type }: Filter) {
  const q = text.trim()
  return {
    ...(q !== '' && { q }),
    ...(state !== '' && { state }),
    ...(topic !== '' && { topic }),
    ...(type !== '' && { eventType: type }),
  }
}

const STATES = ['working', 'failing', 'paused', 'pending'] as const
/** Characters of the text that is sought. Past it: the rest is left out. */
const SOUGHT_CHARS_MAX = 100
/** Pause in the typing after which the text is sought. */
const TYPED_MS = 250

interface Props {
  filter: Filter
  onChange: (filter: Filter) => void
}

export function EndpointFilter({ filter, onChange }: Props) {
  const { endpoints: w, states } = useLanguage().words
  const change = (part: Partial<Filter>) => onChange(simplified({ ...filter, ...part }))
  const topics = useRead(listPortalTopics, {}, { everyMs: false }).data?.topics ?? []
  const topic = filter.topic || (topics.length === 1 ? (topics[0] ?? '') : '')
  const types = useRead(listPortalEventTypes, { path: { topic } }, { everyMs: false, enabled: topic !== '' })
  const names = topic === '' ? [] : (types.data?.eventTypes.map(({ name }) => name) ?? [])
  return (
    <search className={own.filter}>
      <Text text={filter.text} onChange={(text) => change({ text })} />
      <Select
        label={w.state}
        value={filter.state}
        onChange={(state) => change({ state })}
        options={[
          { value: '' as const, label: w.anyState },
          ...STATES.map((state) => ({ value: state, label: states[state] })),
        ]}
      />
      {topics.length > 1 && (
        <Select
          label={w.source}
          value={filter.topic}
          onChange={(next) => change({ topic: next, type: '' })}
          options={optionsOf(w.anySource, topics)}
        />
      )}
      {names.length > 0 && (
        <Select
          label={w.type}
          value={filter.type}
          onChange={(type) => change({ type })}
          options={optionsOf(w.anyType, names)}
        />
      )}
    </search>
  )
}

/** The filter that filters nothing is always the same object. */
function simplified(filter: Filter): Filter {
  return Object.values(filter).every((value) => value === '') ? NO_FILTER : filter
}

function optionsOf(all: string, values: readonly string[]) {
  return [{ value: '', label: all }, ...values.map((value) => ({ value, label: value }))]
}

/** Asks the API when the customer pauses, and not with each letter. */
function Text({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const w = useLanguage().words.endpoints
  const [typed, setTyped] = useState(text)
  useEffect(() => setTyped(text), [text])
  useEffect(() => {
    if (typed === text) return
    const timer = setTimeout(() => onChange(typed.slice(0, SOUGHT_CHARS_MAX)), TYPED_MS)
    return () => clearTimeout(timer)
  }, [typed, text, onChange])
  return <TextInput label={w.search} type="search" value={typed} onChange={setTyped} />
}
