/** Publishes a message, and links to the page that shows its deliveries. */
import type { Topic } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { AttributesField, readAttributes } from '../../parts/attributes-field.tsx'
import { TextArea, TextInput } from '../../parts/fields.tsx'
import { jsonOrText } from '../../parts/message-text.tsx'
import css from '../../parts/parts.module.css'
import { WriteForm } from '../../parts/write-form.tsx'

const w = words.publish

export function PublishForm({ topic }: { topic: Topic }) {
  const [message, setMessage] = useState<string>(w.example)
  const [attributes, setAttributes] = useState('')
  const [eventType, setEventType] = useState('')
  const [groupId, setGroupId] = useState('')
  const [deduplicationId, setDeduplicationId] = useState('')
  const publish = useWrite(operations.publish)
  const given = readAttributes(attributes)
  const input = {
    path: { topic: topic.name },
    body: {
      message: jsonOrText(message),
      ...(given && Object.keys(given).length > 0 && { attributes: given }),
      ...(eventType !== '' && { eventType }),
      ...(groupId !== '' && { groupId }),
      ...(deduplicationId !== '' && { deduplicationId }),
    },
  }
  return (
    <WriteForm
      write={publish}
      action={w.publish}
      onSend={() => publish.mutate(input)}
      isReady={given !== undefined}
      call={callOf(operations.publish, input)}
      under={
        publish.data &&
        'messageId' in publish.data && (
          <p className={css.notice} data-kind="good" role="status">
            {w.published}{' '}
            <Link to="/messages/$id" params={{ id: publish.data.messageId }}>
              {publish.data.messageId}
            </Link>
          </p>
        )
      }
    >
      <TextArea
        label={w.message}
        hint={w.messageHint}
        rows={7}
        value={message}
        onChange={setMessage}
        problem={problemAt(publish.error, 'message')}
      />
      <TextInput
        label={words.eventTypes.of}
        placeholder="order.paid"
        value={eventType}
        onChange={setEventType}
        problem={problemAt(publish.error, 'eventType')}
      />
      <AttributesField
        value={attributes}
        onChange={setAttributes}
        problem={problemAt(publish.error, 'attributes')}
      />
      {topic.fifo && (
        <div className={css.fields}>
          <TextInput
            label={w.groupId}
            value={groupId}
            onChange={setGroupId}
            problem={problemAt(publish.error, 'groupId')}
          />
          <TextInput
            label={w.deduplicationId}
            value={deduplicationId}
            onChange={setDeduplicationId}
            problem={problemAt(publish.error, 'deduplicationId')}
          />
        </div>
      )}
    </WriteForm>
  )
}
