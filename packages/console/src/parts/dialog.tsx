/**
 * A dialog over the page. Its button in the corner and Escape always close it, wherever the focus is. If it is closed,
 * a request that was sent is not cancelled.
 */
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { words } from '../i18n/en.ts'
import { Button } from './button.tsx'
import { TextInput } from './fields.tsx'
import css from './parts.module.css'
import { Failed } from './states.tsx'

interface DialogProps {
  title: string
  isOpen: boolean
  onClose: () => void
  role?: 'dialog' | 'alertdialog'
  children: ReactNode
}

export function Dialog({ title, isOpen, onClose, role = 'dialog', children }: DialogProps) {
  useEscape(isOpen, onClose)
  return (
    <ModalOverlay
      className={css.overlay}
      isOpen={isOpen}
      isDismissable
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
    >
      <Modal className={css.modal}>
        <AriaDialog role={role}>
          <div className={css.titleBar}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <Button kind="plain" aria-label={words.closeDialog} onPress={onClose}>
              <span aria-hidden="true">✕</span>
            </Button>
          </div>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}

/** A pressed button that becomes disabled loses the focus to the page, where the overlay itself hears no Escape. */
function useEscape(isOpen: boolean, onClose: () => void) {
  const close = useEffectEvent(onClose)
  useEffect(() => {
    if (!isOpen) return
    const listen = ({ key, defaultPrevented }: KeyboardEvent) => {
      if (key === 'Escape' && !defaultPrevented) close()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [isOpen])
}

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
  isPending: boolean
  error: unknown
  onConfirm: () => void
}

export function Confirm({
  action,
  name,
  count = 1,
  isTyped = false,
  isPending,
  error,
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
      {error ? <Failed error={error} /> : null}
      <div className={css.row}>
        <Button kind="danger" isDisabled={isPending || (mustType && typed !== name)} onPress={onConfirm}>
          {action}
        </Button>
        <Button onPress={dialog.onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  )
}
