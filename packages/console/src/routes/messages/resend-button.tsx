/** Sends a message again to one subscription. It asks first, because the receiver gets it twice. */
import { useState } from 'react'
import { callOf, operations } from '../../api/api-calls.ts'
import { useWrite } from '../../api/use-api.ts'
import { words } from '../../i18n/en.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialogs/dialog.tsx'
import { CopyCurl } from '../../parts/page-head.tsx'
import css from '../../parts/parts.module.css'
import { Failed } from '../../parts/states.tsx'

const w = words.resend

interface Props {
  messageId: string
  subscriptionId: string
  endpoint: string
}

export function ResendButton({ messageId, subscriptionId, endpoint }: Props) {
  // The idempotency key, one for each opened dialog. A second press therefore sends nothing twice.
  const [key, setKey] = useState<string>()
  const resend = useWrite(operations.resendMessage)
  const input = {
    path: { messageId },
    headers: { 'Idempotency-Key': key ?? '' },
    body: { subscription: subscriptionId },
  }
  const close = () => {
    setKey(undefined)
    resend.reset()
  }
  return (
    <>
      <Button kind="plain" aria-label={w.one(endpoint)} onPress={() => setKey(crypto.randomUUID())}>
        {w.resend}
      </Button>
      <Dialog title={w.one(endpoint)} isOpen={key !== undefined} onClose={close} role="alertdialog">
        <p>{w.what}</p>
        {resend.error && <Failed error={resend.error} />}
        <div className={css.row}>
          <Button
            kind="primary"
            isDisabled={resend.isPending}
            onPress={() => resend.mutate(input, { onSuccess: close })}
          >
            {w.resend}
          </Button>
          <Button onPress={close}>{words.cancel}</Button>
          <CopyCurl call={callOf(operations.resendMessage, input)} />
        </div>
      </Dialog>
    </>
  )
}
