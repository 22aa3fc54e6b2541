/** Shows the console to everybody in local mode, and otherwise after a login with an API key. */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { operations } from '../api/api-calls.ts'
import { ApiError } from '../api/api-error.ts'
import { keepCsrfToken } from '../api/send.ts'
import { useConnection, useRead, useWrite } from '../api/use-api.ts'
import { words } from '../i18n/en.ts'
import { Button } from '../parts/button.tsx'
import { TextInput } from '../parts/fields.tsx'
import css from '../parts/parts.module.css'
import { Failed, Skeleton } from '../parts/states.tsx'
import { WriteForm } from '../parts/write-form.tsx'

const w = words.login
/** Somebody may end the session elsewhere, or revoke its key. */
const CHECK_MS = 60_000

export function SessionGate({ children }: { children: ReactNode }) {
  const session = useRead(operations.getSession, {}, { everyMs: CHECK_MS })
  const { state } = useConnection()
  const { refetch } = session
  // A request was refused, so the session may have ended.
  useEffect(() => {
    if (state === 'refused') void refetch()
  }, [state, refetch])
  // A check that starts again has no error yet. The form must stay meanwhile.
  const isRefused = useRef(false)
  if (session.error instanceof ApiError && session.error.status === 401) isRefused.current = true
  else if (session.isSuccess) isRefused.current = false
  if (isRefused.current) return <Login />
  if (session.data) {
    keepCsrfToken(session.data.csrfToken)
    return children
  }
  if (session.error) return <Failed error={session.error} onRetry={() => void session.refetch()} />
  return <Skeleton rows={4} />
}

function Login() {
  const [key, setKey] = useState('')
  const logIn = useWrite(operations.logIn)
  const send = () =>
    logIn.mutate({ body: { key } }, { onSuccess: ({ csrfToken }) => keepCsrfToken(csrfToken) })
  return (
    <main className={css.login}>
      <WriteForm isPanel write={logIn} action={w.logIn} onSend={send} isReady={key !== ''}>
        <h1>{w.title}</h1>
        <p className={css.quiet}>{w.why}</p>
        <TextInput
          label={w.key}
          hint={w.hint}
          type="password"
          value={key}
          onChange={setKey}
          isRequired
          autoFocus
        />
      </WriteForm>
    </main>
  )
}

/** Nothing where no session is needed. */
export function LogOut() {
  const queries = useQueryClient()
  const session = useRead(operations.getSession, {}, { everyMs: CHECK_MS })
  const logOut = useWrite(operations.logOut)
  if (!session.data?.csrfToken) return null
  const end = () =>
    logOut.mutate(
      {},
      {
        onSuccess: () => {
          keepCsrfToken(null)
          // The next user of this browser must not see data of this session.
          queries.clear()
          location.assign('/console/')
        },
      },
    )
  return <Button onPress={end}>{words.shell.logout}</Button>
}
