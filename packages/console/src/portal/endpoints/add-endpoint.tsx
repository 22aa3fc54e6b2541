/** The dialog that adds an endpoint. The page of the new endpoint then shows its signing secret. */
import { addPortalEndpoint, listPortalTopics } from '@fantail/client/api'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { Select } from '../../parts/fields.tsx'
import {
  AddressField,
  isComplete,
  NO_SETTINGS,
  SETTING_FIELDS,
  SettingsFields,
  settingsOf,
} from '../pieces/endpoint-fields.tsx'
import { PortalForm } from '../pieces/portal-form.tsx'
import { Shown } from '../pieces/shown.tsx'
import { fieldProblem } from '../pieces/trouble.tsx'

interface Props {
  isOpen: boolean
  onClose: () => void
  onAdded: (id: string, secret: string) => void
}

export function AddEndpoint({ isOpen, onClose, onAdded }: Props) {
  const { endpoints } = useLanguage().words
  return (
    <Dialog title={endpoints.add} isOpen={isOpen} onClose={onClose}>
      <Topics onClose={onClose} onAdded={onAdded} />
    </Dialog>
  )
}

type FormProps = Omit<Props, 'isOpen'>

function Topics(props: FormProps) {
  const read = useRead(listPortalTopics, {}, { everyMs: false })
  return (
    <Shown read={read} rows={4}>
      {({ topics }) => <AddForm {...props} topics={topics} />}
    </Shown>
  )
}

function AddForm({ topics, onClose, onAdded }: FormProps & { topics: string[] }) {
  const { endpoints, form, problems } = useLanguage().words
  const [topic, setTopic] = useState(topics[0] ?? '')
  const [endpoint, setEndpoint] = useState('')
  const [draft, setDraft] = useState(NO_SETTINGS)
  const add = useWrite(addPortalEndpoint)
  const send = () => {
    const { name, eventTypes, maxPerSecond } = settingsOf(draft)
    const body = {
      topic,
      endpoint: endpoint.trim(),
      ...(name !== null && { name }),
      ...(eventTypes !== null && { eventTypes }),
      ...(maxPerSecond !== null && { maxPerSecond }),
    }
    add.mutate({ body }, { onSuccess: ({ id, secret }) => onAdded(id, secret) })
  }
  const chooseTopic = (next: string) => {
    setTopic(next)
    // Each source has event types of its own.
    setDraft({ ...draft, types: null })
  }
  return (
    <PortalForm
      write={add}
      action={endpoints.add}
      conflict={endpoints.full}
      fields={['endpoint', 'topic', ...SETTING_FIELDS]}
      isReady={endpoint.trim() !== '' && topic !== '' && isComplete(draft)}
      onSend={send}
      onCancel={onClose}
    >
      {topics.length !== 1 && (
        <Select
          label={form.source}
          value={topic}
          onChange={chooseTopic}
          options={topics.map((one) => ({ value: one, label: one }))}
          problem={fieldProblem(problems, add.error, 'topic')}
        />
      )}
      <AddressField value={endpoint} onChange={setEndpoint} error={add.error} />
      <SettingsFields topic={topic} serviceRate={null} draft={draft} onChange={setDraft} error={add.error} />
    </PortalForm>
  )
}
