/** The recorded attempts of a subscription, and which ones its topic records. */
import type { AttemptList, Subscription } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { operations } from '../../api/api-calls.ts'
import { SCREEN_REFRESH_MS, useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { Select } from '../../parts/fields.tsx'
import { formatMs, nameOf } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'
import { Badge, When } from '../../parts/show.tsx'
import { Empty, Failed, Loaded } from '../../parts/states.tsx'
import { type Attempt, AttemptDetails, answerOf, nextText, toneOf, whyText } from './attempt-answer.tsx'

const w = words.attempts

const RECORDINGS = (['none', 'failures', 'all'] as const).map((value) => ({
  value,
  label: w.recordings[value],
}))

export function SubscriptionAttempts({ id, topicArn }: Pick<Subscription, 'id' | 'topicArn'>) {
  const read = useRead(operations.listAttempts, { path: { id } }, { everyMs: SCREEN_REFRESH_MS })
  return (
    <Loaded read={read}>
      {(list) => (
        <div className={css.stack}>
          <Recording topic={nameOf(topicArn)} recording={list.recording} />
          <AttemptTable {...list} />
        </div>
      )}
    </Loaded>
  )
}

function Recording({ topic, recording }: { topic: string } & Pick<AttemptList, 'recording'>) {
  const update = useWrite(operations.updateTopic)
  return (
    <>
      <div className={css.fields}>
        <Select
          label={w.recording(topic)}
          value={recording}
          options={RECORDINGS}
          onChange={(recordAttempts) => update.mutate({ path: { topic }, body: { recordAttempts } })}
        />
      </div>
      {update.error && <Failed error={update.error} />}
    </>
  )
}

function AttemptTable({ attempts, recording, bodies, keptSince }: AttemptList) {
  const [shown, setShown] = useState<Attempt>()
  const open: Column<Attempt> = {
    title: w.answer,
    show: (attempt) => (
      <Button
        kind="plain"
        aria-label={w.open(attempt.attempt, answerOf(attempt))}
        onPress={() => setShown(attempt)}
      >
        <Badge tone={toneOf(attempt)}>{answerOf(attempt)}</Badge>
      </Button>
    ),
  }
  return (
    <>
      <DataTable
        label={words.subscription.tabs.attempts}
        columns={[STARTED, open, ...COLUMNS, ...(attempts.some(isAfterGap) ? [LEFT_OUT] : [])]}
        rows={attempts}
        keyOf={keyOf}
        empty={<Empty title={w.nothing}>{recording === 'none' ? w.isOff : w.nothingYet}</Empty>}
      />
      {attempts.length > 0 && (
        <p className={css.hint}>
          {w.keptSince} <When at={keptSince} />. {bodies === 'withheld' && w.withheld}
        </p>
      )}
      <Dialog
        title={shown ? w.title(shown.attempt) : ''}
        isOpen={shown !== undefined}
        onClose={() => setShown(undefined)}
      >
        {shown && <AttemptDetails attempt={shown} isWithheld={bodies === 'withheld'} />}
      </Dialog>
    </>
  )
}

function keyOf({ messageId, redrives, attempt, startedAt }: Attempt): string {
  return `${messageId} ${redrives} ${attempt} ${startedAt}`
}

const STARTED: Column<Attempt> = { title: w.started, show: ({ startedAt }) => <When at={startedAt} /> }

const COLUMNS: readonly Column<Attempt>[] = [
  { title: w.attempt, show: ({ attempt }) => attempt, isNumber: true },
  { title: w.took, show: ({ durationMs }) => formatMs(durationMs), isNumber: true },
  { title: w.why, show: whyText },
  { title: w.next, show: nextText },
  {
    title: words.messages.message,
    show: ({ messageId }) => (
      <Link to="/messages/$id" params={{ id: messageId }} data-row className="mono">
        {messageId}
      </Link>
    ),
  },
]

const LEFT_OUT: Column<Attempt> = {
  title: w.missing,
  show: (attempt) => (isAfterGap(attempt) ? w.leftOut(attempt.leftOut) : ''),
}

/** Whether attempts before this one were not recorded. */
function isAfterGap({ leftOut }: Attempt): boolean {
  return leftOut > 0
}
