/** A form that makes one change: its fields, the error, the button, and the same request as a curl command. */
import type { ReactNode } from 'react'
import type { Call } from '../api/api-calls.ts'
import { Button } from './button.tsx'
import { CopyCurl } from './page-head.tsx'
import css from './parts.module.css'
import { Failed } from './states.tsx'

/** The part of a change that forms and dialogs show. */
export interface Write {
  error: unknown
  isPending: boolean
}

interface Props {
  write: Write
  /** Text of the button. */
  action: string
  /** Called when the user presses the button or Enter. */
  onSend: () => void
  /** The fields can be sent. */
  isReady?: boolean
  call?: Call | undefined
  isPanel?: true
  /** The error is shown at another place. */
  hidesError?: true
  /** Further buttons and texts beside the button. */
  beside?: ReactNode
  /** The result. */
  under?: ReactNode
  children: ReactNode
}

export function WriteForm({ write, action, onSend, isReady = true, children, ...props }: Props) {
  const { call, isPanel, hidesError, beside, under } = props
  return (
    <form
      className={isPanel ? `${css.panel} ${css.form}` : css.form}
      onSubmit={(event) => {
        event.preventDefault()
        onSend()
      }}
    >
      {children}
      {write.error && !hidesError ? <Failed error={write.error} /> : null}
      <div className={css.row}>
        <Button kind="primary" type="submit" isDisabled={!isReady || write.isPending}>
          {action}
        </Button>
        {beside}
        {call && <CopyCurl call={call} />}
      </div>
      {under}
    </form>
  )
}
