/** The choice of event types: all, or names and groups of them, each with its description and its look. */
import { listPortalEventTypes } from '@fantail/client/api'
import { useId, useState } from 'react'
import type { OutputOf } from '../../api/api-calls.ts'
import { useRead } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Check, TextInput } from '../../parts/fields.tsx'
import css from '../../parts/parts.module.css'
import own from './portal.module.css'
import { TypeLook } from './type-look.tsx'
import { getsType, groupsOfTypes, type TypeGroup, withChoice } from './type-patterns.ts'

/** From this number of types on, there is a field to search them. */
const SEARCHED_FROM = 10

type EventTypeRow = OutputOf<typeof listPortalEventTypes>['eventTypes'][number]

interface Props {
  topic: string
  /** null: all events. */
  chosen: readonly string[] | null
  onChange: (chosen: string[] | null) => void
  problem: string | undefined
}

/** Nothing, if the service names no event types. */
export function TypeChoice(props: Props) {
  const { form } = useLanguage().words
  const { topic, chosen, onChange, problem } = props
  const name = useId()
  const read = useRead(listPortalEventTypes, { path: { topic } }, { everyMs: false, enabled: topic !== '' })
  const types = read.data?.eventTypes ?? []
  if (types.length === 0 && chosen === null) return null
  const options = [
    { label: form.typesAll, isChosen: chosen === null, choice: null },
    { label: form.typesSome, isChosen: chosen !== null, choice: [] },
  ]
  return (
    <fieldset className={own.choice} aria-describedby={problem && `${name}-problem`}>
      <legend className={css.legend}>{form.types}</legend>
      {options.map(({ label, isChosen, choice }) => (
        <label key={label} className={css.check}>
          <input type="radio" name={name} checked={isChosen} onChange={() => onChange(choice)} />
          {label}
        </label>
      ))}
      {chosen !== null && <Types {...props} chosen={chosen} types={types} />}
      {chosen?.length === 0 && <p className={css.hint}>{form.typesNone}</p>}
      {problem && (
        <p id={`${name}-problem`} className={css.problem}>
          {problem}
        </p>
      )}
    </fieldset>
  )
}

interface TypesProps extends Props {
  chosen: readonly string[]
  types: readonly EventTypeRow[]
}

function Types({ topic, chosen, onChange, types }: TypesProps) {
  const { form } = useLanguage().words
  const [sought, setSought] = useState('')
  const groups = groupsOfTypes(types.map(({ name }) => name))
  const offered = new Set(groups.flatMap(({ prefix, names }) => [...names, `${prefix}.*`]))
  /** Chosen elsewhere: a pattern that is no group here, or a type that is gone. */
  const others = chosen.filter((one) => !offered.has(one))
  const isSought = ({ name, description }: EventTypeRow) =>
    `${name} ${description ?? ''}`.toLowerCase().includes(sought.trim().toLowerCase())
  const found = new Set(types.filter(isSought).map(({ name }) => name))
  const choose = (one: string) => (isChosen: boolean) => onChange(withChoice(chosen, one, isChosen))
  return (
    <>
      {types.length >= SEARCHED_FROM && (
        <TextInput label={form.typesSearch} type="search" value={sought} onChange={setSought} />
      )}
      <div className={own.types}>
        {groups.map((group) => (
          <Group key={group.prefix} {...{ topic, group, types, chosen, found, choose }} />
        ))}
        {others.map((one) => (
          <Check key={one} label={one === '*' ? form.typesAll : one} isChecked onChange={choose(one)} />
        ))}
      </div>
    </>
  )
}

interface GroupProps {
  topic: string
  group: TypeGroup
  types: readonly EventTypeRow[]
  chosen: readonly string[]
  /** Names that the search has found. */
  found: ReadonlySet<string>
  choose: (one: string) => (isChosen: boolean) => void
}

function Group({ topic, group: { prefix, names }, types, chosen, found, choose }: GroupProps) {
  const { form } = useLanguage().words
  const pattern = `${prefix}.*`
  const isWhole = prefix !== '' && chosen.includes(pattern)
  const rows = types.filter(({ name }) => names.includes(name) && found.has(name))
  if (rows.length === 0) return null
  return (
    <>
      {prefix !== '' && (
        <Check label={form.typesBelow(prefix)} isChecked={isWhole} onChange={choose(pattern)} />
      )}
      <ul className={prefix === '' ? undefined : own.within}>
        {rows.map(({ name, description, deprecated }) => (
          <li key={name}>
            <label className={css.check}>
              <input
                type="checkbox"
                checked={getsType(chosen, name)}
                disabled={isWhole}
                onChange={(event) => choose(name)(event.target.checked)}
              />
              <code>{name}</code>
              {deprecated && <small>{form.deprecated}</small>}
            </label>
            {description && <p className={css.hint}>{description}</p>}
            <TypeLook topic={topic} name={name} />
          </li>
        ))}
      </ul>
    </>
  )
}
