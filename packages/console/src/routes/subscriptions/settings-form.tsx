/** Settings of a subscription as one JSON document. Only members that differ from the present settings are sent. */
import type { Subscription } from '@fantail/client/api'
import { SETTINGS } from '@fantail/client/api'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { ApiError } from '../../api/api-error.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { TextArea } from '../../parts/fields.tsx'
import { objectIn } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { Failed } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'

const w = words.settings

/** The endpoint has a form of its own, and the answer masks secrets of `outbound`. */
const MEMBERS = SETTINGS.Subscription.filter((member) => member !== 'endpoint' && member !== 'outbound')

type Settings = Pick<Subscription, (typeof MEMBERS)[number]>

const settingsOf = (subscription: Subscription) =>
  Object.fromEntries(MEMBERS.map((name) => [name, subscription[name]])) as unknown as Settings

export function SettingsForm({ subscription }: { subscription: Subscription }) {
  // The settings at the moment when the form was opened. A refresh must not change the text while somebody edits it.
  const [before, setBefore] = useState(() => settingsOf(subscription))
  const [text, setText] = useState(() => JSON.stringify(before, null, 2))
  const update = useWrite(operations.updateSubscription)
  const changes = changesIn(text, before)
  const names = Object.keys(changes ?? {})
  const input = { path: { id: subscription.id }, body: changes ?? {} }
  const isOutdated = JSON.stringify(before) !== JSON.stringify(settingsOf(subscription))
  const begin = (from: Subscription) => {
    setBefore(settingsOf(from))
    setText(JSON.stringify(settingsOf(from), null, 2))
  }
  return (
    <WriteForm
      hidesError
      write={update}
      action={words.save}
      onSend={() => update.mutate(input, { onSuccess: begin })}
      isReady={names.length > 0}
      beside={
        <span className={css.quiet}>{names.length === 0 ? w.unchanged : w.changes(names.join(', '))}</span>
      }
      call={names.length > 0 ? callOf(operations.updateSubscription, input) : undefined}
    >
      <TextArea
        label={w.label}
        hint={w.hint}
        rows={18}
        value={text}
        onChange={setText}
        problem={changes ? undefined : words.filter.notJson}
      />
      {isOutdated && (
        <div className={css.notice} data-kind="warn" role="status">
          {w.outdated}{' '}
          <Button kind="plain" onPress={() => begin(subscription)}>
            {w.reload}
          </Button>
        </div>
      )}
      {update.error && <Failed error={update.error} />}
      {update.error instanceof ApiError && (
        <ul>
          {update.error.details.map(({ path, message }) => (
            <li key={path} className={css.problem}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </WriteForm>
  )
}

/** Members that differ. A member that was removed is reset. undefined: the text is no JSON object. */
function changesIn(text: string, before: Settings): Record<string, unknown> | undefined {
  const members = objectIn(text)
  if (!members) return undefined
  const names = new Set([...Object.keys(members), ...MEMBERS])
  const differs = (name: string) =>
    JSON.stringify(members[name] ?? null) !==
    JSON.stringify((before as Record<string, unknown>)[name] ?? null)
  return Object.fromEntries([...names].filter(differs).map((name) => [name, members[name] ?? null]))
}
