/** The heading of a screen, with its actions and the request behind the screen. */
import type { ReactNode } from 'react'
import type { Call } from '../api/api-calls.ts'
import { curlOf } from '../api/send.ts'
import { words } from '../i18n/en.ts'
import { CopyButton } from './button.tsx'
import css from './parts.module.css'

interface Props {
  title: string
  /** The kind of object, such as a topic, if the title is a name. */
  above?: ReactNode
  status?: ReactNode
  /** The request of this screen to the API. */
  request?: Call
  children?: ReactNode
}

export function PageHead({ title, above, status, request, children }: Props) {
  return (
    <div className={css.head}>
      {above && <p className={css.above}>{above}</p>}
      <h1>{title}</h1>
      {status}
      {children}
      {request && <CopyCurl call={request} />}
    </div>
  )
}

export function CopyCurl({ call }: { call: Call }) {
  return <CopyButton kind="plain" label={words.copyCurl} text={() => curlOf(call)} />
}
