/** API keys: who may do what. A new token is shown once. */
import type { CreatedKey, Key } from '@fantail/client/api'
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { problemAt } from '../../api/api-error.ts'
import { usePages, useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button, CopyButton } from '../../parts/button.tsx'
import { type Column, ReadTable } from '../../parts/data-table.tsx'
import { Confirm } from '../../parts/dialogs/confirm.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { Check, Select, TextInput } from '../../parts/fields.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Pairs, When } from '../../parts/show.tsx'
import { Empty } from '../../parts/states.tsx'
import { WriteForm } from '../../parts/write-form.tsx'

const w = words.keysPage
const SCOPES = Object.keys(w.scopes) as Key['scopes']
const KINDS = [
  { value: 'native', label: w.kinds.native },
  { value: 'aws', label: w.kinds.aws },
] as const

export function KeysPage() {
  const [isCreating, setCreating] = useState(false)
  const [revoked, setRevoked] = useState<Key>()
  const input = { query: { limit: 100 } }
  const read = usePages(operations.listKeys, input)
  const columns: readonly Column<Key>[] = [
    { title: words.topics.name, show: ({ name }) => name },
    { title: w.id, show: ({ id }) => <code>{id}</code> },
    { title: words.topics.kind, show: ({ kind }) => kind },
    { title: w.mayDo, show: ({ scopes }) => scopes.join(', ') },
    { title: w.prefixes, show: ({ prefixes }) => prefixes.join(', ') || w.allNames },
    {
      title: w.rate,
      show: ({ maxRequestsPerSecond }) => maxRequestsPerSecond ?? w.unlimited,
      isNumber: true,
    },
    { title: words.topics.created, show: ({ createdAt }) => <When at={createdAt} /> },
    {
      title: w.revoke,
      show: (key) => (
        <Button kind="plain" onPress={() => setRevoked(key)}>
          {w.revoke}
        </Button>
      ),
    },
  ]
  return (
    <>
      <PageHead title={w.title} request={callOf(operations.listKeys, input)}>
        <Button kind="primary" onPress={() => setCreating(true)}>
          {w.create}
        </Button>
      </PageHead>
      <ReadTable
        read={read}
        label={w.title}
        columns={columns}
        rowsOf={({ pages }) => pages.flatMap((page) => page.keys)}
        keyOf={({ id }) => id}
        empty={
          <Empty title={w.none}>
            <p>{w.noneWhy}</p>
            <Button onPress={() => setCreating(true)}>{w.create}</Button>
          </Empty>
        }
      />
      <Dialog title={w.create} isOpen={isCreating} onClose={() => setCreating(false)}>
        <CreateKey onDone={() => setCreating(false)} />
      </Dialog>
      {revoked && <Revoke apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  )
}

function CreateKey({ onDone }: { onDone: () => void }) {
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Key['kind']>('native')
  const [scopes, setScopes] = useState<Key['scopes']>(['read'])
  const [prefixes, setPrefixes] = useState('')
  const create = useWrite(operations.createKey)
  const names = prefixes.split(/[\s,]+/).filter((prefix) => prefix !== '')
  const input = { body: { name, kind, scopes, ...(names.length > 0 && { prefixes: names }) } }
  const toggle = (scope: Key['scopes'][number], isChosen: boolean) =>
    setScopes(SCOPES.filter((own) => (own === scope ? isChosen : scopes.includes(own))))
  if (create.data) return <Made made={create.data} onDone={onDone} />
  return (
    <WriteForm
      write={create}
      action={w.create}
      onSend={() => create.mutate(input)}
      isReady={name !== '' && scopes.length > 0}
      call={callOf(operations.createKey, input)}
    >
      <TextInput
        label={words.topics.name}
        value={name}
        onChange={setName}
        isRequired
        autoFocus
        problem={problemAt(create.error, 'name')}
      />
      <Select label={words.topics.kind} value={kind} onChange={setKind} options={KINDS} />
      <fieldset>
        <legend className={css.legend}>{w.mayDo}</legend>
        {SCOPES.map((scope) => (
          <Check
            key={scope}
            label={`${scope}: ${w.scopes[scope]}`}
            isChecked={scopes.includes(scope)}
            onChange={(isChosen) => toggle(scope, isChosen)}
          />
        ))}
      </fieldset>
      <TextInput
        label={w.prefixes}
        hint={w.prefixesHint}
        value={prefixes}
        onChange={setPrefixes}
        problem={problemAt(create.error, 'prefixes')}
      />
    </WriteForm>
  )
}

/** Shows the secret, which no other place shows. When it is closed, the secret is dropped. */
function Made({ made, onDone }: { made: CreatedKey; onDone: () => void }) {
  const secret = made.token ?? made.secretAccessKey ?? ''
  return (
    <div className={css.form}>
      <p className={css.notice} data-kind="warn">
        {w.once}
      </p>
      <Pairs
        pairs={[
          [words.topics.name, made.name],
          [w.id, <code key="id">{made.accessKeyId ?? made.id}</code>],
          [w.secret, <code key="secret">{secret}</code>],
        ]}
      />
      <div className={css.row}>
        <CopyButton text={secret} />
        <Button kind="primary" onPress={onDone}>
          {words.haveIt}
        </Button>
      </div>
    </div>
  )
}

function Revoke({ apiKey, onClose }: { apiKey: Key; onClose: () => void }) {
  const revoke = useWrite(operations.revokeKey)
  return (
    <Confirm
      title={w.revokeTitle(apiKey.name)}
      action={w.revoke}
      name={apiKey.name}
      isOpen
      write={revoke}
      onClose={onClose}
      onConfirm={() => revoke.mutate({ path: { key: apiKey.id } }, { onSuccess: onClose })}
    >
      <p>{w.revokeWhat}</p>
    </Confirm>
  )
}
