/** Data of the API once they are there, the heading of a page, and the state of an endpoint. */
import type { PortalEndpoint } from '@fantail/client/api'
import { type ReactNode, useEffect, useRef } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { useLanguage } from '../../i18n/portal/portal-language.ts'
import { Badge, type Tone } from '../../parts/show.tsx'
import { Skeleton } from '../../parts/states.tsx'
import { Trouble } from './trouble.tsx'

interface Read<T> {
  data: T | undefined
  error: unknown
  refetch: () => unknown
}

interface ShownProps<T> {
  read: Read<T>
  rows?: number
  /** Shown if the thing is not there any more. */
  gone?: ReactNode
  children: (data: T) => ReactNode
}

/** If a refresh fails, the last data stay. The top of the page says that they may be old. */
export function Shown<T>({ read, rows, gone, children }: ShownProps<T>) {
  if (gone && read.error instanceof ApiError && read.error.status === 404) return gone
  if (read.data !== undefined) return children(read.data)
  if (read.error) return <Trouble error={read.error} onRetry={() => void read.refetch()} />
  return <Skeleton {...(rows && { rows })} />
}

interface TitleProps {
  children: string
  /** The page has replaced another one: whoever uses a keyboard or listens goes on from its heading. */
  isArrival?: boolean
}

export function Title({ children, isArrival = false }: TitleProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = children
  }, [children])
  useEffect(() => {
    if (!isArrival) return
    heading.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [isArrival])
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  )
}

const TONES: Record<PortalEndpoint['state'], Tone> = {
  working: 'good',
  failing: 'bad',
  paused: 'warn',
  pending: 'warn',
}

export function StateBadge({ state }: Pick<PortalEndpoint, 'state'>) {
  const { states } = useLanguage().words
  return <Badge tone={TONES[state]}>{states[state]}</Badge>
}
