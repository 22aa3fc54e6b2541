/**
 * The settings of an endpoint, and the dialogs that change them. The address changes by itself, because a new one may
 * have to confirm first.
 */
import { changePortalEndpoint, type PortalEndpoint } from '@fantail/client/api'
import { useState } from 'react'
import { useWrite } from '../../api/use-api.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import css from '../../parts/parts.module.css'
import { Pairs } from '../../parts/show.tsx'
import {
  AddressField,
  draftOf,
  isComplete,
  SETTING_FIELDS,
  SettingsFields,
  settingsOf,
} from '../pieces/endpoint-fields.tsx'
import own from '../pieces/portal.module.css'
import { PortalForm } from '../pieces/portal-form.tsx'

interface Props {
  endpoint: PortalEndpoint
  mayManage: boolean
}

export function Settings({ endpoint, mayManage }: Props) {
  const { words, formats } = useLanguage()
  const { settings: w, form, endpoints, actions } = words
  const [opened, setOpened] = useState<'address' | 'others'>()
  const close = () => setOpened(undefined)
  const { eventTypes, perSecond } = endpoint
  const canChange = mayManage && endpoint.state !== 'pending'
  return (
    <section className={`${css.panel} ${own.part}`}>
      <h2>{w.title}</h2>
      <Pairs
        pairs={[
          [form.address, endpoint.endpoint],
          [form.name, endpoint.name ?? words.none],
          [form.types, eventTypes?.join(', ') ?? endpoints.allTypes],
          [w.speed, perSecond === null ? w.noRate : w.rate(perSecond)],
          [w.since, formats.time(endpoint.createdAt)],
        ]}
      />
      {canChange && (
        <div className={css.row}>
          <Button onPress={() => setOpened('others')}>{actions.edit}</Button>
          <Button onPress={() => setOpened('address')}>{w.editAddress}</Button>
        </div>
      )}
      <Dialog title={form.editTitle} isOpen={opened === 'others'} onClose={close}>
        <EditForm endpoint={endpoint} onDone={close} />
      </Dialog>
      <Dialog title={form.moveTitle} isOpen={opened === 'address'} onClose={close}>
        <MoveForm endpoint={endpoint} onDone={close} />
      </Dialog>
    </section>
  )
}

interface FormProps {
  endpoint: PortalEndpoint
  onDone: () => void
}

/** Sends only what was changed, so that it undoes no change that was made elsewhere meanwhile. */
function EditForm({ endpoint, onDone }: FormProps) {
  const { save } = useLanguage().words
  const [before] = useState(() => draftOf(endpoint))
  const [draft, setDraft] = useState(before)
  const change = useWrite(changePortalEndpoint)
  const { id, topic } = endpoint
  const body = changesOf(settingsOf(before), settingsOf(draft))
  const send = () => {
    if (Object.keys(body).length === 0) onDone()
    else change.mutate({ path: { id }, body }, { onSuccess: onDone })
  }
  return (
    <PortalForm
      write={change}
      action={save}
      fields={SETTING_FIELDS}
      isReady={isComplete(draft)}
      onSend={send}
      onCancel={onDone}
    >
      <SettingsFields
        topic={topic}
        serviceRate={serviceRateOf(endpoint)}
        draft={draft}
        onChange={setDraft}
        error={change.error}
      />
    </PortalForm>
  )
}

/** The bound of the service is known if it is in force. */
function serviceRateOf({ maxPerSecond, perSecond }: PortalEndpoint): number | null {
  return perSecond === maxPerSecond ? null : perSecond
}

function changesOf<Values extends object>(before: Values, now: Values): Partial<Values> {
  const changed = Object.entries(now).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Values]),
  )
  return Object.fromEntries(changed) as Partial<Values>
}

function MoveForm({ endpoint: { id, endpoint }, onDone }: FormProps) {
  const { form, settings } = useLanguage().words
  const [address, setAddress] = useState(endpoint)
  const change = useWrite(changePortalEndpoint)
  const given = address.trim()
  return (
    <PortalForm
      write={change}
      action={settings.editAddress}
      fields={['endpoint']}
      isReady={given !== '' && given !== endpoint}
      onSend={() => change.mutate({ path: { id }, body: { endpoint: given } }, { onSuccess: onDone })}
      onCancel={onDone}
    >
      <AddressField value={address} onChange={setAddress} error={change.error} hint={form.moveHint} />
    </PortalForm>
  )
}
