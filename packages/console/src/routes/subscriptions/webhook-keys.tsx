/** Keys of Standard Webhooks signatures. A new secret is shown once. */
import type { WebhookKeyList } from '@fantail/client/api'
import { useState } from 'react'
import { operations } from '../../api/api-calls.ts'
import { useRead, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { type Column, ReadTable } from '../../parts/data-table.tsx'
import { Select } from '../../parts/fields.tsx'
import css from '../../parts/parts.module.css'
import { When } from '../../parts/show.tsx'
import { Empty, Failed } from '../../parts/states.tsx'

const w = words.webhookKeys

type Key = WebhookKeyList['webhookKeys'][number]

const COLUMNS: readonly Column<Key>[] = [
  { title: w.id, show: ({ id }) => <code>{id}</code> },
  { title: w.algorithm, show: ({ algorithm }) => algorithm },
  { title: w.publicKey, show: ({ publicKey }) => <code>{publicKey ?? '–'}</code> },
  { title: words.topics.created, show: ({ createdAt }) => <When at={createdAt} /> },
  { title: w.ends, show: ({ expiresAt }) => <When at={expiresAt} empty={words.never} /> },
]
const ALGORITHMS = (['hmac-sha256', 'ed25519'] as const).map((value) => ({
  value,
  label: w.algorithms[value],
}))

export function WebhookKeys({ id }: { id: string }) {
  const [algorithm, setAlgorithm] = useState<Key['algorithm']>('hmac-sha256')
  const input = { path: { id } }
  const read = useRead(operations.listWebhookKeys, input)
  const create = useWrite(operations.createWebhookKey)
  const made = create.data
  return (
    <div className={css.stack}>
      <ReadTable
        read={read}
        skeletonRows={2}
        label={words.subscription.tabs.keys}
        columns={COLUMNS}
        rowsOf={({ webhookKeys }) => webhookKeys}
        keyOf={(key) => key.id}
        empty={<Empty title={w.none}>{w.noneWhy}</Empty>}
      />
      <div className={css.fields}>
        <Select label={w.algorithm} value={algorithm} onChange={setAlgorithm} options={ALGORITHMS} />
      </div>
      <div className={css.row}>
        <Button
          isDisabled={create.isPending}
          onPress={() => create.mutate({ ...input, body: { algorithm } })}
        >
          {w.rotate}
        </Button>
      </div>
      {create.error && <Failed error={create.error} />}
      {made?.secret && (
        <div className={css.notice} data-kind="warn" role="status">
          <p>{w.once}</p>
          <div className={css.row}>
            <code>{made.secret}</code> <CopyButton text={made.secret} />
            <Button onPress={() => create.reset()}>{words.haveIt}</Button>
          </div>
        </div>
      )}
    </div>
  )
}
