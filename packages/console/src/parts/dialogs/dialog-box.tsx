/** The overlay, the frame and the focus of a dialog. Their library is large, so `dialog.tsx` loads this file late. */
import { type ReactNode, useEffect, useEffectEvent } from 'react'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { Button } from '../button.tsx'
import { usePartLanguage } from '../part-language.ts'
import css from '../parts.module.css'

export interface DialogProps {
  title: string
  isOpen: boolean
  onClose: () => void
  role?: 'dialog' | 'alertdialog'
  children: ReactNode
}

export function DialogBox({ title, isOpen, onClose, role = 'dialog', children }: DialogProps) {
  const { closeDialog } = usePartLanguage()
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
            <Button kind="plain" aria-label={closeDialog} onPress={onClose}>
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
