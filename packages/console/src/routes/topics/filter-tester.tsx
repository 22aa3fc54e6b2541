/** Tries a filter policy on a message, and shows the verdict of the policy and of each clause. */
import type { FilterReplay, FilterTest } from '@fantail/client/api'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { AttributesField, readAttributes } from '../../parts/attributes-field.tsx'
import { Select, TextArea, TextInput } from '../../parts/fields.tsx'
import { formatNumber } from '../../parts/formats.ts'
import { jsonOrText, objectIn } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Badge, When } from '../../parts/show.tsx'
import { Failed } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'

const w = words.filter
const r = words.replay

interface Props {
  topic: string
  /** The filter of a subscription. Default: an example. */
  policy?: Record<string, unknown> | null
  scope?: 'MessageAttributes' | 'MessageBody'
}

export function FilterTester({ topic, policy: given, scope: givenScope = 'MessageAttributes' }: Props) {
  const [policy, setPolicy] = useState(given ? JSON.stringify(given, null, 2) : w.examplePolicy)
  const [scope, setScope] = useState(givenScope)
  const [message, setMessage] = useState<string>(w.exampleMessage)
  const [attributes, setAttributes] = useState<string>(w.exampleAttributes)
  const test = useWrite(operations.testFilterPolicy)
  const filterPolicy = objectIn(policy)
  const input = {
    body: {
      filterPolicy: filterPolicy ?? {},
      filterPolicyScope: scope,
      message: { message: jsonOrText(message), attributes: readAttributes(attributes) },
    },
  }
  return (
    <div className={css.columns}>
      <WriteForm
        hidesError
        write={test}
        action={w.test}
        onSend={() => test.mutate(input)}
        isReady={filterPolicy !== undefined}
        call={callOf(operations.testFilterPolicy, input)}
      >
        <TextArea
          label={w.policy}
          rows={8}
          value={policy}
          onChange={setPolicy}
          problem={filterPolicy ? undefined : w.notJson}
        />
        <Select label={w.scope} value={scope} onChange={setScope} options={SCOPES} />
        <TextArea label={w.message} rows={4} value={message} onChange={setMessage} />
        <AttributesField value={attributes} onChange={setAttributes} />
      </WriteForm>
      <section className={css.panel} aria-live="polite">
        <h2>{w.verdict}</h2>
        {test.error ? <Failed error={test.error} /> : <Verdict test={test.data} />}
      </section>
      <FilterReplayForm topic={topic} filterPolicy={filterPolicy} filterPolicyScope={scope} />
    </div>
  )
}

const SCOPES = [
  { value: 'MessageAttributes', label: w.byAttributes },
  { value: 'MessageBody', label: w.byBody },
] as const

function Verdict({ test }: { test: FilterTest | undefined }) {
  if (!test) return <p className={css.quiet}>{w.notYet}</p>
  return (
    <div className={css.stack}>
      <p>
        <Badge tone={test.matched ? 'good' : 'bad'}>{test.matched ? w.matched : w.filtered}</Badge>{' '}
        {test.reason}
      </p>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">{w.clause}</th>
            <th scope="col">{w.wanted}</th>
            <th scope="col">{w.has}</th>
          </tr>
        </thead>
        <tbody>
          {test.clauses.map(({ path, condition, matched, value }) => (
            <tr key={`${path} ${JSON.stringify(condition)}`}>
              <td>
                <Badge tone={matched ? 'good' : 'bad'}>{path}</Badge>
              </td>
              <td>
                <code>{JSON.stringify(condition)}</code>
              </td>
              <td>
                <code>{value === undefined ? w.nothing : JSON.stringify(value)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface ReplayProps {
  topic: string
  /** undefined: the text is no JSON object. */
  filterPolicy: Record<string, unknown> | undefined
  filterPolicyScope: 'MessageAttributes' | 'MessageBody'
}

/** Tries a filter policy on the latest messages that a topic keeps. */
function FilterReplayForm({ topic, filterPolicy, filterPolicyScope }: ReplayProps) {
  const [last, setLast] = useState('1000')
  const replay = useWrite(operations.replayFilterPolicy)
  const input = {
    body: { topic, filterPolicy: filterPolicy ?? {}, filterPolicyScope, last: Number(last) },
  }
  return (
    <section className={css.panel} aria-live="polite">
      <h2>{r.title}</h2>
      <WriteForm
        hidesError
        write={replay}
        action={r.run}
        onSend={() => replay.mutate(input)}
        isReady={filterPolicy !== undefined}
        call={callOf(operations.replayFilterPolicy, input)}
      >
        <TextInput
          label={r.last}
          hint={r.lastHint}
          type="number"
          min={1}
          max={10_000}
          value={last}
          onChange={setLast}
        />
      </WriteForm>
      {replay.error ? <Failed error={replay.error} /> : <Replayed replay={replay.data} />}
    </section>
  )
}

function Replayed({ replay }: { replay: FilterReplay | undefined }) {
  if (!replay) return <p className={css.quiet}>{words.filter.notYet}</p>
  const { tried, matched, kept, ended, oldestAt, clauses } = replay
  return (
    <div className={css.stack}>
      <p>
        <strong>{r.matched(formatNumber(matched), tried)}</strong> {r.ended[ended]}{' '}
        {oldestAt && (
          <>
            {r.oldest} <When at={oldestAt} />.
          </>
        )}{' '}
        <span className={css.quiet}>{r.kept(formatNumber(kept))}</span>
      </p>
      {clauses.length > 0 && <Clauses clauses={clauses} />}
    </div>
  )
}

function Clauses({ clauses }: Pick<FilterReplay, 'clauses'>) {
  return (
    <table className={css.table}>
      <thead>
        <tr>
          <th scope="col">{words.filter.clause}</th>
          <th scope="col">{words.filter.wanted}</th>
          <th scope="col">{r.refused}</th>
        </tr>
      </thead>
      <tbody>
        {clauses.map(({ path, condition, refused }) => (
          <tr key={`${path} ${JSON.stringify(condition)}`}>
            <td>{path}</td>
            <td>
              <code>{JSON.stringify(condition)}</code>
            </td>
            <td>{formatNumber(refused)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
