/** The heading of a screen, with its actions and the request behind the screen, and the title of its page. */
import { type ReactNode, useEffect } from 'react'
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

/**
 * The title of a page whose address has an id where people know a name. The frame sets a title from the address first.
 * The name follows when it was read.
 */
export function useTitle(name: string | undefined, page: string): void {
  useEffect(() => {
    if (name !== undefined) document.title = [name, page, words.product].join(' · ')
  })
}

interface GoneProps {
  title: string
  why?: string
  /** A link to the list. */
  children: ReactNode
}

/** A page about something that does not exist, with the way to what does. */
export function Gone({ title, why, children }: GoneProps) {
  return (
    <div className={css.stack}>
      <PageHead title={title} />
      {why && <p className={css.quiet}>{why}</p>}
      <p>{children}</p>
    </div>
  )
}
