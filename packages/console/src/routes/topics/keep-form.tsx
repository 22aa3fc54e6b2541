/** Sets how long a topic keeps its messages, and in how many bytes. Shows its archive. */
import type { Topic } from '@fantail/client/api'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { TextInput } from '../../parts/fields.tsx'
import { formatBytes, formatSeconds } from '../../parts/formats.ts'
import css from '../../parts/parts.module.css'
import { WriteForm } from '../../parts/write-form.tsx'

const w = words.keep
const HOUR_MS = 3_600_000
const MIB = 1_048_576

export function KeepForm({ topic }: { topic: Topic }) {
  const { archive, keepMessages: kept, name } = topic
  const [hours, setHours] = useState(String(kept ? (kept.seconds * 1_000) / HOUR_MS : 24))
  const [mebibytes, setMebibytes] = useState(String((kept?.bytes ?? 100 * MIB) / MIB))
  const save = useWrite(operations.updateTopic)
  const keepMessages = {
    seconds: Math.round((Number(hours) * HOUR_MS) / 1_000),
    bytes: Math.round(Number(mebibytes) * MIB),
  }
  const input = { path: { topic: name }, body: { keepMessages } }
  return (
    <WriteForm
      isPanel
      write={save}
      action={kept ? w.change : w.turnOn}
      onSend={() => save.mutate(input)}
      beside={kept && <TurnOff name={name} />}
      call={callOf(operations.updateTopic, input)}
    >
      <h2>{w.title}</h2>
      <p>{kept ? w.now(formatSeconds(kept.seconds), formatBytes(kept.bytes)) : w.off}</p>
      {archive && <p>{w.archived(archive.days)}</p>}
      <p className={css.quiet}>{w.what}</p>
      <div className={css.fields}>
        <TextInput
          label={w.hours}
          type="number"
          min={0}
          step="any"
          value={hours}
          onChange={setHours}
          problem={problemAt(save.error, 'keepMessages.seconds')}
        />
        <TextInput
          label={w.mebibytes}
          type="number"
          min={1}
          step="any"
          value={mebibytes}
          onChange={setMebibytes}
          problem={problemAt(save.error, 'keepMessages.bytes')}
        />
      </div>
    </WriteForm>
  )
}

function TurnOff({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false)
  const save = useWrite(operations.updateTopic)
  const close = () => setOpen(false)
  return (
    <>
      <Button kind="danger" onPress={() => setOpen(true)}>
        {w.turnOff}
      </Button>
      <Confirm
        title={w.turnOffTitle(name)}
        action={w.turnOff}
        name={name}
        isOpen={isOpen}
        write={save}
        onClose={close}
        onConfirm={() =>
          save.mutate({ path: { topic: name }, body: { keepMessages: null } }, { onSuccess: close })
        }
      >
        <p>{w.turnOffWhat}</p>
      </Confirm>
    </>
  )
}
