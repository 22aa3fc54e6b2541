/** Tries a filter policy on the latest messages that a topic keeps. */

import type { FilterReplay } from '@fantail/client/api'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { TextInput } from '../../parts/fields.tsx'
import { formatNumber } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'
import { When } from '../../parts/show.tsx'
import { Failed } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'

const w = words.replay

interface Props {
  topic: string
  /** undefined: the text is no JSON object. */
  filterPolicy: Record<string, unknown> | undefined
  filterPolicyScope: 'MessageAttributes' | 'MessageBody'
}

export function FilterReplayForm({ topic, filterPolicy, filterPolicyScope }: Props) {
  const [last, setLast] = useState('1000')
  const replay = useWrite(operations.replayFilterPolicy)
  const input = {
    body: { topic, filterPolicy: filterPolicy ?? {}, filterPolicyScope, last: Number(last) },
  }
  return (
    <section className={css.panel} aria-live="polite">
      <h2>{w.title}</h2>
      <WriteForm
        hidesError
        write={replay}
        action={w.run}
        onSend={() => replay.mutate(input)}
        isReady={filterPolicy !== undefined}
        call={callOf(operations.replayFilterPolicy, input)}
      >
        <TextInput
          label={w.last}
          hint={w.lastHint}
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
        <strong>{w.matched(formatNumber(matched), tried)}</strong> {w.ended[ended]}{' '}
        {oldestAt && (
          <>
            {w.oldest} <When at={oldestAt} />.
          </>
        )}{' '}
        <span className={css.quiet}>{w.kept(formatNumber(kept))}</span>
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
          <th scope="col">{w.refused}</th>
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
