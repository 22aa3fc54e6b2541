/** Subscribes an endpoint. Each kind has its own fields, and only webhooks have retries that can be set. */
import type { Topic } from '@fantail/client/api'
import type { Protocol } from '@fantail/contracts'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Check, Select, TextArea, TextInput } from '../../parts/fields.tsx'
import { objectIn } from '../../parts/message-text.tsx'
import { WriteForm } from '../../parts/write-form.tsx'

const w = words.subscribe

interface Kind {
  label: string
  endpoint: string
  placeholder: string
  takesRaw?: true
  takesConfirmation?: true
}

/** The fields of the form, by kind. A new kind does not compile without its row. */
const KINDS: Record<Protocol, Kind> = {
  https: { ...w.kinds.https, takesRaw: true, takesConfirmation: true },
  http: { ...w.kinds.http, takesRaw: true, takesConfirmation: true },
  sqs: { ...w.kinds.sqs, takesRaw: true },
  lambda: w.kinds.lambda,
  firehose: { ...w.kinds.firehose, takesRaw: true },
  email: w.kinds.email,
  'email-json': w.kinds.emailJson,
  sms: w.kinds.sms,
  application: w.kinds.application,
}
const OPTIONS = (Object.keys(KINDS) as Protocol[]).map((value) => ({ value, label: KINDS[value].label }))

export function SubscribeForm({ topic }: { topic: Topic }) {
  const [protocol, setProtocol] = useState<Protocol>('https')
  const [endpoint, setEndpoint] = useState('')
  const [name, setName] = useState('')
  const [filter, setFilter] = useState('')
  const [types, setTypes] = useState('')
  const [isRaw, setRaw] = useState(false)
  const [mustConfirm, setMustConfirm] = useState(false)
  const subscribe = useWrite(operations.subscribe)
  const navigate = useNavigate()
  const kind = KINDS[protocol]
  const filterPolicy = objectIn(filter)
  const isFilterWrong = filter.trim() !== '' && !filterPolicy
  const input = {
    path: { topic: topic.name },
    body: {
      endpoint,
      protocol,
      ...(name !== '' && { name }),
      ...(types.trim() !== '' && { eventTypes: types.split(',').map((name) => name.trim()) }),
      ...(filterPolicy && { filterPolicy }),
      ...(kind.takesRaw && isRaw && { rawMessageDelivery: true }),
      ...(kind.takesConfirmation && mustConfirm && { confirmation: 'handshake' as const }),
    },
  }
  const send = () =>
    subscribe.mutate(input, {
      onSuccess: ({ id }) => void navigate({ to: '/subs/$id', params: { id } }),
    })
  return (
    <WriteForm
      write={subscribe}
      action={w.subscribe}
      onSend={send}
      isReady={endpoint !== '' && !isFilterWrong}
      call={callOf(operations.subscribe, input)}
    >
      <Select label={w.kind} value={protocol} onChange={setProtocol} options={OPTIONS} />
      <TextInput
        label={kind.endpoint}
        placeholder={kind.placeholder}
        value={endpoint}
        onChange={setEndpoint}
        isRequired
        problem={problemAt(subscribe.error, 'endpoint')}
      />
      <TextInput
        label={w.name}
        value={name}
        onChange={setName}
        problem={problemAt(subscribe.error, 'name')}
      />
      <TextInput
        label={words.eventTypes.chosen}
        hint={words.eventTypes.chosenHint}
        value={types}
        onChange={setTypes}
        problem={problemAt(subscribe.error, 'eventTypes')}
      />
      <TextArea
        label={w.filter}
        hint={w.filterHint}
        rows={3}
        value={filter}
        onChange={setFilter}
        problem={isFilterWrong ? words.filter.notJson : problemAt(subscribe.error, 'filterPolicy')}
      />
      {kind.takesRaw && <Check label={w.raw} isChecked={isRaw} onChange={setRaw} />}
      {kind.takesConfirmation && (
        <Check label={w.confirm} isChecked={mustConfirm} onChange={setMustConfirm} />
      )}
    </WriteForm>
  )
}
