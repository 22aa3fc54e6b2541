/** A form of the portal, and a dialog that asks before something is done. */
import { type ReactNode, useEffect, useRef } from 'react'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import css from '../../parts/parts.module.css'
import { type Field, isOfFields, Trouble } from './trouble.tsx'

interface Write {
  error: unknown
  isPending: boolean
}

interface FormProps {
  write: Write
  /** Text of the button. */
  action: string
  isReady?: boolean
  /** Fields that show their own problems. */
  fields?: readonly Field[]
  /** The meaning of a conflict here. */
  conflict?: string
  onSend: () => void
  onCancel: () => void
  /** Text of the button that closes the form. Default: Cancel. */
  cancel?: string
  children: ReactNode
}

export function PortalForm({ write, action, isReady = true, fields = [], ...props }: FormProps) {
  const { words } = useLanguage()
  const form = useRef<HTMLFormElement>(null)
  const { error } = write
  // The first field with a problem gets the focus, so that its problem is read aloud.
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [error])
  return (
    <form
      ref={form}
      noValidate
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady && !write.isPending) props.onSend()
      }}
    >
      {props.children}
      {!isOfFields(error, fields) && <Trouble error={error} conflict={props.conflict} />}
      <div className={css.row}>
        <Button kind="primary" type="submit" isDisabled={!isReady || write.isPending}>
          {action}
        </Button>
        <Button onPress={props.onCancel}>{props.cancel ?? words.cancel}</Button>
      </div>
    </form>
  )
}

interface AskProps {
  title: string
  action: string
  isDanger?: true
  isOpen: boolean
  write: Write
  onConfirm: () => void
  onClose: () => void
  children: ReactNode
}

export function Ask({ title, action, isDanger, isOpen, write, onConfirm, onClose, children }: AskProps) {
  const { words } = useLanguage()
  return (
    <Dialog role="alertdialog" title={title} isOpen={isOpen} onClose={onClose}>
      {children}
      <Trouble error={write.error} />
      <div className={css.row}>
        <Button kind={isDanger ? 'danger' : 'primary'} isDisabled={write.isPending} onPress={onConfirm}>
          {action}
        </Button>
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  )
}
