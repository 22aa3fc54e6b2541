/** A dialog that asks before something is lost. */
import { useState } from 'react'
import { words } from '../../i18n/en.ts'
import { Button } from '../button.tsx'
import { TextInput } from '../fields.tsx'
import css from '../parts.module.css'
import { Failed } from '../states.tsx'
import type { Write } from '../write-form.tsx'
import { Dialog } from './dialog.tsx'
import type { DialogProps } from './dialog-box.tsx'

/** If more objects than this are affected, the user must type the name. */
const TYPED_FROM = 100

interface ConfirmProps extends Omit<DialogProps, 'role'> {
  /** The verb of the button. */
  action: string
  /** The name of the thing, which the user may have to type. */
  name: string
  /** How many objects are lost. */
  count?: number
  /** The user must type the name, however few objects are affected. */
  isTyped?: boolean
  write: Write
  onConfirm: () => void
}

export function Confirm({
  action,
  name,
  count = 1,
  isTyped = false,
  write,
  onConfirm,
  children,
  ...dialog
}: ConfirmProps) {
  const [typed, setTyped] = useState('')
  const mustType = isTyped || count > TYPED_FROM
  return (
    <Dialog {...dialog} role="alertdialog">
      {children}
      {mustType && <TextInput label={words.typeToConfirm(name)} value={typed} onChange={setTyped} />}
      {write.error ? <Failed error={write.error} /> : null}
      <div className={css.row}>
        <Button
          kind="danger"
          isDisabled={write.isPending || (mustType && typed !== name)}
          onPress={onConfirm}
        >
          {action}
        </Button>
        <Button onPress={dialog.onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  )
}
