/** Subscribes an endpoint. Its kind has the words and traits that decide about the fields. */
import type { Topic } from '@fantail/client/api'
import type { Protocol } from '@fantail/contracts'
import { PROTOCOL_TRAITS } from '@fantail/policy'
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

const PROTOCOLS = Object.keys(w.kinds) as Protocol[]
const OPTIONS = PROTOCOLS.map((value) => ({ value, label: w.kinds[value].label }))

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
  const { endpoint: label, placeholder } = w.kinds[protocol]
  const { takes, confirmedBy } = PROTOCOL_TRAITS[protocol]
  const canConfirm = confirmedBy === 'endpoint'
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
      ...(takes.rawDelivery && isRaw && { rawMessageDelivery: true }),
      ...(canConfirm && mustConfirm && { confirmation: 'handshake' as const }),
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
        label={label}
        placeholder={placeholder}
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
      {takes.rawDelivery && <Check label={w.raw} isChecked={isRaw} onChange={setRaw} />}
      {canConfirm && <Check label={w.confirm} isChecked={mustConfirm} onChange={setMustConfirm} />}
    </WriteForm>
  )
}
