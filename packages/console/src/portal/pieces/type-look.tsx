/** An event type as a customer needs it: examples of its messages, and their fields. It is read when it is opened. */
import { getPortalEventType } from '@fantail/client/api'
import { useState } from 'react'
import { useRead } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { MessageText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import own from './portal.module.css'
import { fieldsOfSchema } from './schema-fields.ts'
import { Shown } from './shown.tsx'

/** Examples that are shown. Past it: the test of an endpoint offers the others. */
const EXAMPLES_SHOWN_MAX = 3

interface Props {
  topic: string
  name: string
}

export function TypeLook({ topic, name }: Props) {
  const { form } = useLanguage().words
  const [isOpen, setOpen] = useState(false)
  return (
    <details className={own.details} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{form.showType(name)}</summary>
      {isOpen && <Look topic={topic} name={name} />}
    </details>
  )
}

function Look({ topic, name }: Props) {
  const { form } = useLanguage().words
  const read = useRead(getPortalEventType, { path: { topic, name } }, { everyMs: false })
  return (
    <Shown read={read} rows={2}>
      {({ examples, schema }) => (
        <div className={css.stack}>
          <h3>{form.example}</h3>
          {examples.length === 0 && <p className={css.quiet}>{form.noExample}</p>}
          {examples.slice(0, EXAMPLES_SHOWN_MAX).map((example) => {
            const text = textOfExample(example)
            return <MessageText key={text} text={text} />
          })}
          <h3>{form.schema}</h3>
          {schema === null ? <p className={css.quiet}>{form.noSchema}</p> : <Fields schema={schema} />}
        </div>
      )}
    </Shown>
  )
}

function Fields({ schema }: { schema: Record<string, unknown> }) {
  const { form } = useLanguage().words
  return (
    <>
      <ul className={own.fields}>
        {fieldsOfSchema(schema).map(({ path, type, isRequired, description }) => (
          <li key={path}>
            <code>{path}</code> <span className={css.quiet}>{type}</span>
            {isRequired && <small>{form.required}</small>}
            {description && <p>{description}</p>}
          </li>
        ))}
      </ul>
      <details className={own.details}>
        <summary>{form.schemaText}</summary>
        <MessageText text={JSON.stringify(schema)} />
      </details>
    </>
  )
}

export function textOfExample(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example, null, 2)
}
