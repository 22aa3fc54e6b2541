/** Objects that a plan leaves out or a task could not act on, each with the reason. */
import type { BulkTask } from '@fantail/client/api'
import { Link } from '@tanstack/react-router'
import css from '../../parts/parts.module.css'

interface Props {
  title: string
  failures: BulkTask['failures']
}

const IS_ID = /^[0-9a-f-]{36}$/

export function Failures({ title, failures }: Props) {
  return (
    <details className={css.notice} data-kind="warn">
      <summary>{title}</summary>
      <ul>
        {failures.map(({ object, code, message }) => (
          <li key={object}>
            {IS_ID.test(object) ? (
              <Link to="/subs/$id" params={{ id: object }}>
                {object}
              </Link>
            ) : (
              <code>{object}</code>
            )}{' '}
            <strong>{code}</strong> {message}
          </li>
        ))}
      </ul>
    </details>
  )
}
